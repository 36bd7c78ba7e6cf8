#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""draw_report.py PROGRAM: draws docs/report.png, the picture of a report that the README shows.

The models are those of `ingot sample`, so every machine draws the same page. Needs chromium with
chromedriver (Debian: chromium, chromium-driver).
"""

import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "report"))
from web_driver import Browser  # noqa: E402

WIDTH, HEIGHT, SCALE = 1200, 700, 0.75


def make_report(program, folder):
    def ingot(*arguments):
        subprocess.run([program, *arguments, "-q"], cwd=folder, check=True)

    ingot("sample", "model-F16.gguf", "--layers", "24", "--embedding", "256", "--vocab", "2000")
    ingot("quantize", "model-F16.gguf", "model.gguf", "Q4_K_M")
    ingot("report", "model.gguf", "--reference", "model-F16.gguf", "-o", "model.html")
    return folder / "model.html"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        page = make_report(str(pathlib.Path(sys.argv[1]).resolve()), folder)
        with Browser(WIDTH, HEIGHT, folder / "profile") as browser:
            browser.prefer("light")
            browser.resize(WIDTH, HEIGHT, SCALE)
            browser.open(page.as_uri())
            browser.run("document.querySelector('#layers').scrollIntoView()")
            time.sleep(0.5)
            browser.screenshot(ROOT / "docs" / "report.png")


if __name__ == "__main__":
    main()
