#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_hostile.py PROGRAM [--check] [OPTION...]

Runs `PROGRAM show OPTION... FILE`, or with --check `PROGRAM check --data OPTION... FILE`, over the
hostile corpus in $INGOT_SHARED/hostile (default: the folder `shared` beside the checkout). Without
the corpus it skips (77), but fails if CI=true.

Environment: INGOT_INSTRUMENTED=1 lifts the limits on memory and time, which a sanitizer exceeds.
"""
import os
import pathlib
import subprocess
import sys


def main():
    program, *options = sys.argv[1:]
    command, statuses = ["show"], []
    if options[:1] == ["--check"]:
        options = options[1:]
        command, statuses = ["check", "--data"], ["--warn-exit", "1"]
    root = pathlib.Path(__file__).resolve().parent.parent
    shared = pathlib.Path(os.environ.get("INGOT_SHARED") or root.parent / "shared")
    runner = shared / "hostile" / "run_corpus.py"
    if not runner.is_file():
        print(f"there is no {runner}; set INGOT_SHARED")
        sys.exit(1 if os.environ.get("CI") == "true" else 77)

    if os.environ.get("INGOT_INSTRUMENTED") == "1":
        limits = ["--mem", "0", "--max-rss", "0", "--timeout", "60", "--slow", "60"]
    else:
        limits = ["--max-rss", "64", "--slow", "1"]
    run = [sys.executable, str(runner), "--dir", str(shared / "hostile" / "files"),
           "--name", "ingot", "--refuse-exit", "3", *statuses, "--raw-regex", "\x1b", *limits,
           "--", program, *command, *options, "{file}"]
    # The sanitizers' own exit status would be 1, which is a valid answer of some commands.
    environment = dict(os.environ)
    for variable in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"):
        environment[variable] = environment.get(variable, "") + ":exitcode=86"
    sys.exit(subprocess.run(run, env=environment, check=False).returncode)


if __name__ == "__main__":
    main()
