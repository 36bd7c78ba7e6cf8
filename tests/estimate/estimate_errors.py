# SPDX-License-Identifier: MIT
"""estimate_errors.py PROGRAM [--write]

Compares `PROGRAM fit --json` with what the reference engine allocated, for every case of
golden/estimate, and checks that the table of docs/estimate.md says how far the two are apart;
--write: writes the table there. Exit 77 (skipped) without the cases, which are found through
INGOT_SHARED.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "estimate.md"
PLACE = re.compile(r"(<!-- measured errors -->\n).*?(<!-- /measured errors -->)", re.DOTALL)
MIB = 1 << 20
# The device of the measurements addressed no larger tensor; the host computed with these.
LARGEST_TENSOR = 128 * MIB

Error = collections.namedtuple("Error", "share bytes")


def arguments_of(options):
    yield from ("--ctx-size", options["n_ctx"], "--batch-size", options["n_batch"],
                "--ubatch-size", options["n_ubatch"], "--parallel", options["n_seq"],
                "--cache-type-k", options["type_k"], "--cache-type-v", options["type_v"],
                "--flash-attn", options["flash_attention"])
    for key, option in (("kv_unified", "--kv-unified"), ("swa_full", "--swa-full"),
                        ("embeddings", "--embeddings")):
        if options[key]:
            yield option
    if "gpus" in options:
        yield from ("--gpu-layers", options["gpu_layers"],
                    "--device", ",".join(["24G"] * options["gpus"]))


def fit(program, head, options):
    """The estimate; nothing if it is refused."""
    command = [program, "fit", head, "--json", *map(str, arguments_of(options))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return json.loads(done.stdout) if done.returncode in (0, 1) else None


def error_of(estimated, measured):
    return Error(abs(estimated - measured) / max(measured, 1), abs(estimated - measured))


def places_of(estimate, measured):
    """Pairs of estimated and measured places: devices, then the host."""
    if "weights" in measured:
        return [(estimate["host"], measured)]
    names = [f"gpu{i}" for i in range(len(estimate["devices"]))] + ["host"]
    return list(zip(estimate["devices"] + [estimate["host"]], (measured[name] for name in names)))


def is_too_large(estimate, options):
    logits = estimate["output_bytes"] // estimate["sequences"] * estimate["ubatch_size"]
    return logits > LARGEST_TENSOR or options["flash_attention"] == "off"


def row_of(estimate, options):
    """The row of the table for a run's work space."""
    if "gpus" not in options:
        return f"work space, host alone: {estimate['architecture']}"
    if estimate["gpu_layers"] <= estimate["layer_count"]:
        return "work space, some layers on devices (no promise)"
    if is_too_large(estimate, options):
        return None
    return f"work space, all layers on {'one device' if options['gpus'] == 1 else 'two devices'}"


def measure(program, folder):
    """The errors by row, and what cannot be."""
    cases = json.loads((folder / "cases.json").read_text(encoding="utf-8"))
    errors, faults = collections.defaultdict(list), []
    for case in cases["cpu"] + cases["gpu"]:
        head = folder / cases["models"][case["model"]]["head"]
        estimate = fit(program, head, case["options"])
        if (estimate is None) != ("refused" in case):
            faults.append(f"{case['model']}, {case['options']}: refused here or there only")
        if estimate is None:
            errors["runs that the engine refuses: refused"].append(Error(0, 0))
            continue
        row = row_of(estimate, case["options"])
        for place, measured in places_of(estimate, case["measured"]):
            errors["weights, by place"].append(error_of(place["weights_bytes"], measured["weights"]))
            errors["cache, by place"].append(error_of(place["cache_bytes"], measured["cache"]))
            if row:
                errors[row].append(error_of(place["compute_bytes"], measured["compute"]))
        if "n_ctx" in case["measured"]:
            errors["rounded context"].append(
                error_of(estimate["context"], case["measured"]["n_ctx"]))
    return errors, faults


def table_of(errors):
    lines = ["| part | figures | mean error | worst | most bytes |", "| --- | ---: | ---: | ---: | ---: |"]
    exact = ["weights, by place", "cache, by place", "rounded context",
             "runs that the engine refuses: refused"]
    for row in exact + sorted(errors.keys() - set(exact)):
        found = errors[row]
        mean = sum(error.share for error in found) / len(found)
        worst = max(found)
        most = max(error.bytes for error in found)
        cells = ["0", "0", "0"] if most == 0 else [f"{100 * mean:.1f} %", f"{100 * worst.share:.1f} %",
                                                   f"{most / MIB:.1f} MiB"]
        lines.append(f"| {row} | {len(found)} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    shared = pathlib.Path(os.environ.get("INGOT_SHARED") or ROOT.parent / "shared")
    folder = shared / "golden" / "estimate"
    if not folder.is_dir():
        print(f"there is no {folder}; set INGOT_SHARED")
        return 77
    errors, faults = measure(options.program, folder)
    table = table_of(errors)
    page = PAGE.read_text(encoding="utf-8")
    written = PLACE.sub(lambda match: match[1] + table + match[2], page)
    if options.write:
        PAGE.write_text(written, encoding="utf-8")
    elif written != page:
        faults.append(f"{PAGE.name}: the table of errors is not that of the program; measured:\n{table}")
    print("\n".join(faults) if faults else "the table of errors is that of the program")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
