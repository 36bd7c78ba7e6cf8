# SPDX-License-Identifier: MIT
"""Runs a check on folders of every entry of architectures.json, with arguments of the command line."""
import argparse
import json
import os
import pathlib
import tempfile

from rule_folders import Folder


def run_trials(check, what, variants, later=()):
    """The exit status: 77 without the data. `check` gives a fault or None, and how much it compared; `later` reads
    further entries."""
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--variants", type=int, default=variants)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--entry")
    parser.add_argument("--later", action="store_true", help="the entries of golden/hf2 instead of golden/hf")
    options = parser.parse_args()
    golden = pathlib.Path(os.environ.get("INGOT_SHARED", "")) / "golden"
    rules = golden / "hf/architectures.json"
    if not rules.is_file():
        print(f"{rules} is not there")
        return 77
    sets = [load(golden) for load in later] if options.later else [json.loads(rules.read_text())]
    faults = count = 0
    for data, name, entry in ((data, *row) for data in sets for row in data["architectures"].items()):
        if options.entry not in (None, name):
            continue
        for variant in range(options.first, options.first + options.variants):
            with tempfile.TemporaryDirectory() as path:
                fault, compared = check(options.program, data, Folder(data, entry, variant),
                                        pathlib.Path(path))
            count += compared
            if fault:
                faults += 1
                print(f"{name}, variant {variant}: {fault}")
    print(f"{count} {what}, {faults} faults")
    return 1 if faults or not count else 0
