#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench_compare.py RUN.json [RUN.json]

Medians and spread of the repetitions in one or two outputs of Google Benchmark
(`--benchmark_format=json --benchmark_repetitions=9 --benchmark_enable_random_interleaving=true`),
and with two of them the ratio second / first. Spread is half the distance between the quartiles, in
percent of the median; a ratio within the spreads means nothing.
"""
import argparse
import collections
import json
import statistics
import sys

SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}


def read_run(path):
    """Seconds of every repetition, and the counter `ratio` where there is one, by benchmark."""
    with open(path, encoding="utf-8") as file:
        run = json.load(file)
    times, ratios = collections.defaultdict(list), collections.defaultdict(list)
    for entry in run["benchmarks"]:
        if entry.get("error_occurred"):
            sys.exit(f"{path}: {entry['name']}: {entry['error_message']}")
        if entry["run_type"] != "iteration":
            continue
        times[entry["run_name"]].append(entry["real_time"] * SECONDS[entry["time_unit"]])
        if "ratio" in entry:
            ratios[entry["run_name"]].append(entry["ratio"])
    return times, ratios


def spread_percent(values):
    if len(values) < 4:
        return float("nan")
    low, _, high = statistics.quantiles(values, n=4)
    return 50 * (high - low) / statistics.median(values)


def describe(values):
    return f"{statistics.median(values) * 1e6:12.2f} us +-{spread_percent(values):5.1f} %"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", metavar="RUN.json")
    arguments = parser.parse_args()
    if len(arguments.runs) > 2:
        parser.error("one or two runs")

    (times, ratios), *others = [read_run(path) for path in arguments.runs]
    width = max(map(len, times), default=0)
    for name, values in times.items():
        line = f"{name:{width}} {describe(values)}"
        if name in ratios:
            line += f"   {statistics.median(ratios[name]):6.3f} x the walk"
        for other_times, other_ratios in others:
            if name not in other_times:
                line += "   not in the second run"
                continue
            line += f"   {describe(other_times[name])}"
            if name in other_ratios:
                line += f"   {statistics.median(other_ratios[name]):6.3f} x the walk"
            ratio = statistics.median(other_times[name]) / statistics.median(values)
            line += f"   ratio {ratio:.3f}"
        print(line)


if __name__ == "__main__":
    main()
