#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""dask_work.py PLAN [ADDRESS]: runs what `ingot plan-work` has printed on the workers of Dask's distributed
scheduler at ADDRESS (without it, on two of this machine), and joins it.

All workers see this folder under the same name. A task whose worker is lost is run again on another.
"""
import json
import subprocess
import sys

from dask.distributed import Client, LocalCluster


def run_task(plan, number):
    """Runs one task; a second time it does nothing."""
    done = subprocess.run(["ingot", "run-work", plan, "--task", str(number), "--quiet"], check=False,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"task {number} ended with {done.returncode}: {done.stderr.strip()}")


def run_plan(plan, client):
    with open(plan, encoding="utf-8") as file:
        count = len(json.load(file)["tasks"])
    client.gather([client.submit(run_task, plan, number, pure=False, retries=2)
                   for number in range(1, count + 1)])


def main(plan, address=None):
    cluster = address or LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    with Client(cluster) as client:
        run_plan(plan, client)
    return subprocess.run(["ingot", "run-work", plan, "--join"], check=False).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
