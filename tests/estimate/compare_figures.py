# SPDX-License-Identifier: MIT
"""compare_figures.py PROGRAM: the work space by `PROGRAM fit` of the models of graph_models.py, beside
what llama.cpp allocated for them (graph_figures.json, which compare_engine.py --record writes).
"""
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from graph_models import OPTIONS, write_models  # noqa: E402

FIGURES = pathlib.Path(__file__).resolve().parent / "graph_figures.json"
SLACK = 64 << 10  # bytes; the engine prints two digits of a MiB


def estimate(program, path, options):
    """Bytes; nothing if it is refused."""
    arguments = ["--ctx-size", "4096"] if "ctx-size" not in options else []
    for name, value in options.items():
        arguments += [f"--{name}"] + ([] if value is True else [str(value)])
    done = subprocess.run([program, "fit", path, "--json", *arguments], capture_output=True,
                          text=True, check=False)
    return json.loads(done.stdout)["host"]["compute_bytes"] if done.returncode == 0 else None


def main():
    program = sys.argv[1]
    figures = json.loads(FIGURES.read_text(encoding="utf-8"))
    failed = False
    with tempfile.TemporaryDirectory() as name:
        for model, path in write_models(pathlib.Path(name)).items():
            for options, measured in zip(OPTIONS, figures[model], strict=True):
                found = estimate(program, path, options)
                if None in (found, measured):
                    is_right = found == measured
                else:
                    is_right = abs(found - measured) <= SLACK
                if not is_right:
                    print(f"{model}, {options}: {found}, the engine: {measured}  WRONG")
                    failed = True
    return failed


if __name__ == "__main__":
    sys.exit(main())
