#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_pages.py: that the documentation names everything that there is, and nothing that is not.

  links         lead to a file of the tree and to a heading in it
  library.md    names every public header
  architecture  names every folder of sources
  json.md       has a word on every command
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def prose(page):
    return CODE.sub("", page.read_text(encoding="utf-8"))


def anchors(page):
    """What GitHub calls the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def check_links(page):
    for target in LINK.findall(prose(page)):
        if re.match(r"[a-z]+:", target):
            continue  # elsewhere
        name, _, anchor = target.partition("#")
        linked = page.parent / name if name else page
        if not linked.exists():
            yield f"{page.relative_to(ROOT)}: there is no {target}"
        elif anchor and anchor not in anchors(linked):
            yield f"{page.relative_to(ROOT)}: there is no such heading: {target}"


def check_names(page, kind, names):
    text = page.read_text(encoding="utf-8")
    for name in names:
        if f"`{name}`" not in text and f"\n## {name}\n" not in text:
            yield f"{page.relative_to(ROOT)}: the {kind} {name} is not named"


def main():
    pages = [*ROOT.glob("*.md"), *DOCS.glob("*.md")]
    findings = [finding for page in sorted(pages) for finding in check_links(page)]
    headers = (ROOT / "include" / "ingot").iterdir()
    findings += check_names(DOCS / "library.md", "header", sorted(path.name for path in headers))
    folders = {path.parent.relative_to(ROOT) for path in (ROOT / "src").rglob("*.cpp")}
    findings += check_names(DOCS / "architecture.md", "folder",
                            sorted(f"{path}/" for path in folders))
    commands = (ROOT / "tools" / "ingot" / "commands.def").read_text(encoding="utf-8")
    findings += check_names(DOCS / "json.md", "command",
                            [name.replace("_", "-") for name in
                             re.findall(r"^INGOT_COMMAND\((\w+)\)", commands, re.MULTILINE)])
    for finding in findings:
        print(finding)
    sys.exit(1 if findings else 0)


main()
