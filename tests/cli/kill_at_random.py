#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Kills a command at many points, or lets its disk be full, and looks at what is left.

    kill_at_random.py --setup SH --check SH [MODE...] -- COMMAND...

The shell command SETUP fills a folder once. For each trial the folder is copied, COMMAND runs in
the copy and is killed, and then the shell command CHECK runs there; it must end with 0, else the
trial's folder is kept and named. CHECK finds in $outcome how COMMAND ended: "killed", or its exit
status. Modes:

    --times N       SIGKILL after a random time, N times (times up to what COMMAND needs)
    --calls LIB     SIGKILL at each call that changes a file (at most INGOT_KILL_POINTS of them,
                    30 if it is not set, spread evenly, and the last 20), before the call and
                    in the middle of a write; LIB is libkill_at_call.so
    --full LIB      from each such call on the disk is full
    --tmpfs BYTES   COMMAND runs once on a file system of this size; it must fail with status 4.
                    Where this may not be mounted, a limit on the size of files does instead.

Random numbers come from --seed, which is printed when a trial fails.
"""

import argparse
import os
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

MAX_CALLS = int(os.environ.get("INGOT_KILL_POINTS", "30"))


def shell(command, folder, **environment):
    return subprocess.run(["bash", "-euo", "pipefail", "-c", command], cwd=folder,
                          env={**os.environ, **environment}).returncode


class Trials:
    def __init__(self, options, base):
        self.options = options
        self.base = base
        self.template = base / "template"
        self.template.mkdir()
        self.count = 0
        self.killed = 0
        if shell(options.setup, self.template) != 0:
            sys.exit("kill_at_random: the setup failed")

    def fresh_copy(self, parent=None):
        self.count += 1
        folder = (parent or self.base) / f"trial-{self.count}"
        subprocess.run(["cp", "-a", "--reflink=auto", self.template, folder], check=True)
        return folder

    def run(self, folder, kill_after=None, file_limit=None, **environment):
        """Runs the command in the folder; returns "killed" or its status as text."""
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (file_limit, file_limit))
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        process = subprocess.Popen(self.options.command, cwd=folder, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                   preexec_fn=limit if file_limit else None,
                                   env={**os.environ, **environment})
        if kill_after is not None:
            time.sleep(kill_after)
            process.kill()
        self.errors = process.communicate()[1].decode(errors="replace")
        if process.returncode == -signal.SIGKILL:
            self.killed += 1
            return "killed"
        return str(process.returncode)

    def check(self, folder, outcome, what):
        if shell(self.options.check, folder, outcome=outcome) == 0:
            shutil.rmtree(folder)
            return
        kept = tempfile.mkdtemp(prefix="kill_at_random.")
        shutil.copytree(folder, kept, dirs_exist_ok=True)
        sys.exit(f"kill_at_random: the check failed, {what}, outcome {outcome}, "
                 f"seed {self.options.seed}; what is left is in {kept}\n{self.errors}")

    def require_success(self, outcome):
        if outcome != "0":
            sys.exit(f"kill_at_random: undisturbed, the command ends with {outcome}\n{self.errors}")

    def at_random_times(self):
        folder = self.fresh_copy()
        start = time.monotonic()
        outcome = self.run(folder)
        needed = time.monotonic() - start
        self.require_success(outcome)
        self.check(folder, outcome, "not killed")
        generator = random.Random(self.options.seed)
        for _ in range(self.options.times):
            after = generator.uniform(0, 1.05 * needed)
            folder = self.fresh_copy()
            self.check(folder, self.run(folder, kill_after=after), f"after {after:.6f} s")

    def count_calls(self, library):
        folder = self.fresh_copy()
        counter = self.base / "calls"
        outcome = self.run(folder, LD_PRELOAD=library, INGOT_COUNT_CALLS=str(counter))
        self.require_success(outcome)
        self.check(folder, outcome, "with its calls counted")
        calls = int(counter.read_text())
        if calls == 0:
            sys.exit("kill_at_random: no calls were seen")
        step = -(-calls // MAX_CALLS)
        return sorted({*range(1, calls + 1, step), *range(max(1, calls - 20), calls + 1)})

    def at_calls(self, library):
        for call in self.count_calls(library):
            for half in ("0", "1"):
                folder = self.fresh_copy()
                outcome = self.run(folder, LD_PRELOAD=library, INGOT_KILL_AT=str(call),
                                   INGOT_HALF=half)
                self.check(folder, outcome, f"at call {call}, half {half}")

    def with_full_disk(self, library):
        for call in self.count_calls(library):
            folder = self.fresh_copy()
            outcome = self.run(folder, LD_PRELOAD=library, INGOT_FAIL_AT=str(call))
            self.check(folder, outcome, f"full from call {call} on")

    def on_tmpfs(self, size_bytes):
        mount = self.base / "small"
        mount.mkdir()
        is_mounted = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={size_bytes}", "tmpfs", mount],
            stderr=subprocess.DEVNULL).returncode == 0
        try:
            if is_mounted:
                folder = self.fresh_copy(mount)
                outcome = self.run(folder)
            else:
                print("kill_at_random: no tmpfs may be mounted; limiting the size of files")
                folder = self.fresh_copy()
                outcome = self.run(folder, file_limit=size_bytes // 4)
            if outcome != "4":
                sys.exit(f"kill_at_random: status {outcome} on a full disk\n{self.errors}")
            self.check(folder, outcome, "on a full disk")
        finally:
            if is_mounted:
                subprocess.run(["umount", mount], check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--setup", required=True)
    parser.add_argument("--check", required=True)
    parser.add_argument("--times", type=int, default=0)
    parser.add_argument("--calls", metavar="LIB")
    parser.add_argument("--full", metavar="LIB")
    parser.add_argument("--tmpfs", type=int, metavar="BYTES")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kill_at_random.", dir=os.getcwd()) as base:
        trials = Trials(options, pathlib.Path(base))
        if options.times:
            trials.at_random_times()
        if options.calls:
            trials.at_calls(options.calls)
        if options.full:
            trials.with_full_disk(options.full)
        if options.tmpfs:
            trials.on_tmpfs(options.tmpfs)
        if (options.times or options.calls) and trials.killed == 0:
            sys.exit("kill_at_random: nothing was killed, so nothing was tested")
        print(f"{trials.count} trials, {trials.killed} killed", file=sys.stderr)


if __name__ == "__main__":
    main()
