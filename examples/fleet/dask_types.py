#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""dask_types.py MODEL FOLDER TYPE... [--scheduler ADDRESS] [--tasks N]: quantizes a model on the workers of Dask's
distributed scheduler at ADDRESS (without it, on two processes of this machine) by Ingot's Python module alone.

Each task makes some of the types from one reading of MODEL; all workers see MODEL and FOLDER under the same names. A
task whose worker is lost is run again on another, and goes on with what is whole there.
"""
import argparse
import pathlib

import ingot
from dask.distributed import Client, LocalCluster


def make(source, paths):
    """Makes a file of each type in `paths`, on a worker; returns the relative error of each."""
    with ingot.open(source, access="read") as model:
        plans = [ingot.plan_quantization(model, name, resume=True) for name in paths]
        errors = ingot.quantize_together(plans, list(paths.values()))
    signal = [sum(one.squared_signal for one in of_type) for of_type in errors]
    return {name: (sum(one.squared_error for one in of_type) / total) ** 0.5 if total else 0.0
            for name, of_type, total in zip(paths, errors, signal)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("types", nargs="+", metavar="TYPE")
    parser.add_argument("--scheduler", metavar="ADDRESS")
    parser.add_argument("--tasks", type=int, default=2)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    name = given.model.stem
    for ending in ("-F32", "-F16", "-BF16"):
        name = name.removesuffix(ending)
    paths = {word: str(given.folder / f"{name}-{word}.gguf") for word in given.types}
    count = min(given.tasks, len(given.types))
    # Related types stand side by side, and share most of their tensors.
    bounds = [len(given.types) * i // count for i in range(count + 1)]
    shares = [given.types[a:b] for a, b in zip(bounds, bounds[1:])]
    cluster = given.scheduler or LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    with Client(cluster) as client:
        tasks = [client.submit(make, str(given.model), {word: paths[word] for word in share}, pure=False, retries=2)
                 for share in shares]
        for errors in client.gather(tasks):
            for word, error in errors.items():
                print(f"{paths[word]}  {100 * error:.3f} %")


if __name__ == "__main__":
    main()
