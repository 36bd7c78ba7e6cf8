#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run_outcomes.py MAKE_OUTCOMES PROGRAM

Runs `PROGRAM check --data` over every file that MAKE_OUTCOMES makes, each in a process of its own with
limits on memory, stack and time, and compares the exit status with the outcome in the file's name.
Nothing may crash, and no raw escape character may come out. With INGOT_INSTRUMENTED=1 there are no
limits on memory, which a sanitizer exceeds.
"""
import concurrent.futures
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

MIB = 1 << 20
STATUS = {"clean": 0, "warned": 1, "refused": 3}
IS_INSTRUMENTED = os.environ.get("INGOT_INSTRUMENTED") == "1"


def limit():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if IS_INSTRUMENTED:
        return
    resource.setrlimit(resource.RLIMIT_AS, (256 * MIB, 256 * MIB))
    resource.setrlimit(resource.RLIMIT_STACK, (MIB, MIB))
    resource.setrlimit(resource.RLIMIT_CPU, (5, 5))


def run(program, path):
    """What is wrong with how the program treats the file; nothing if all is well."""
    environment = dict(os.environ)
    for variable in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"):
        environment[variable] = environment.get(variable, "") + ":exitcode=86"
    result = subprocess.run([program, "check", "--data", "-j", "2", path], capture_output=True,
                            stdin=subprocess.DEVNULL, preexec_fn=limit, timeout=120, check=False,
                            env=environment)
    wanted = STATUS[path.name.split("__")[0]]
    if result.returncode != wanted:
        return (f"{path.name}: status {result.returncode} instead of {wanted}\n"
                + (result.stdout + result.stderr).decode(errors="replace"))
    for character in (b"\x1b", b"\x9b", b"\0"):
        if character in result.stdout + result.stderr:
            return f"{path.name}: a raw {character!r} came out"
    return None


def main():
    make_outcomes, program = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([make_outcomes, folder], check=True)
        paths = sorted(pathlib.Path(folder).iterdir())
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            problems = [problem for problem in pool.map(lambda path: run(program, path), paths)
                        if problem]
    for problem in problems:
        print(problem)
    print(f"{len(paths)} files, {len(problems)} problems")
    sys.exit(1 if problems or len(paths) < 250 else 0)


if __name__ == "__main__":
    main()
