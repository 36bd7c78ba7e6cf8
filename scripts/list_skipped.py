#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""list_skipped.py REPORT: how many tests of a JUnit report of ctest were skipped, by reason.

Counted are also tests that pytest skipped in one that ran.
"""
import collections
import re
import sys
import xml.etree.ElementTree

GTEST = re.compile(r": Skipped\n(.*)$", re.MULTILINE)
PYTEST = re.compile(r"^SKIPPED \[(\d+)\] (\S+?)(?::\d+)?: (.*)$", re.MULTILINE)


def skips_of(test):
    """The reasons and names of what a test skipped."""
    output = test.findtext("system-out") or ""
    inner = [(reason, place) for count, place, reason in PYTEST.findall(output) for _ in range(int(count))]
    if inner or test.find("skipped") is None:
        return inner
    said = GTEST.search(output)
    lines = [line for line in output.splitlines() if line.strip()]
    return [((said.group(1) if said else lines[-1] if lines else "no reason given").strip(), test.get("name"))]


def main(report):
    reasons = collections.defaultdict(list)
    for test in xml.etree.ElementTree.parse(report).iter("testcase"):
        for reason, name in skips_of(test):
            reasons[reason].append(name)
    print(f"{sum(map(len, reasons.values()))} tests were skipped" + (":" if reasons else ""))
    for reason, names in sorted(reasons.items(), key=lambda row: -len(row[1])):
        shown = ", ".join(sorted(set(names))[:3]) + (", ..." if len(set(names)) > 3 else "")
        print(f"{len(names):6}  {reason} ({shown})")


if __name__ == "__main__":
    main(sys.argv[1])
