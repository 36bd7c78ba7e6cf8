#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_page.py PROGRAM [--screenshots FOLDER]

Looks at the page of `PROGRAM report` in a real browser: it draws everything, loads nothing, says
nothing on the console; tables sort and filter; hovering and keys work; light, dark and narrow. And
names from a file stay text, whatever they are. Exit status 77 without Chromium and its driver
(Debian: chromium, chromium-driver).
"""
import argparse
import pathlib
import subprocess
import tempfile

import web_driver

PHONE = (390, 844)
DESKTOP = (1280, 900)


def check(condition, message):
    if not condition:
        raise AssertionError(message)


def make_pages(program, folder):
    """Folder of an ordinary page, of a page of hostile names, and of one of a vocabulary alone."""
    def run(*arguments):
        subprocess.run([program, *arguments, "-q"], cwd=folder, check=True)
    shape = ["--layers", "6", "--embedding", "256"]
    run("sample", "fine.gguf", "--type", "F16", *shape)
    run("sample", "coarse.gguf", "--type", "Q4_K", *shape)
    run("report", "coarse.gguf", "--reference", "fine.gguf", "-o", "page.html")
    model = (folder / "coarse.gguf").read_bytes()
    for old, new in ((b"blk.0.attn_norm.weight", b"</script><img src=x>zz"),
                     (b"blk.1.attn_norm.weight", b"<b onclick=ev()>'&\"\xe2\x80\xae"),
                     (b"Ingot sample llama", b"<!--<script>alert(")):
        check(len(old) == len(new) and model.count(old) == 1, old)
        model = model.replace(old, new)
    (folder / "hostile.gguf").write_bytes(model)
    run("report", "hostile.gguf", "-o", "hostile.html")
    run("report", "coarse.gguf", "--no-data", "-o", "header.html")


def open_page(browser, path):
    browser.open(path.as_uri())
    check(browser.run("return document.documentElement.dataset.ready") == "true",
          f"{path.name}: the script did not reach its end: {browser.messages()}")
    check(browser.messages() == [], f"{path.name}: the console says something")
    check(browser.run("return performance.getEntriesByType('resource').length") == 0,
          f"{path.name}: something was loaded")


def texts(browser, selector):
    return browser.run("return [...document.querySelectorAll(arguments[0])].map(e => e.textContent)",
                       selector)


def check_parts(browser):
    check(browser.run("return document.querySelectorAll('.cell[aria-label]').length") == 54,
          "six layers of nine tensors are not 54 cells")
    check(browser.run("return document.querySelectorAll('#treemap g').length") > 5, "no treemap")
    check(browser.run("return document.querySelectorAll('#histogram rect').length") == 64, "no bins")
    check(browser.run("return document.querySelectorAll('#worst button').length") == 15, "no errors")
    check(len(texts(browser, "#tensor-table tbody tr")) == 57, "not all tensors")
    check(len(texts(browser, "#metadata-table tbody tr")) > 20, "not all keys")
    check("Ingot sample llama" in texts(browser, "h1")[0], "no title")


def check_template(browser):
    features = texts(browser, "#templates .feature")
    check("\u2713 system" in features and "\u2013 tools" in features, f"features: {features}")
    browser.hover("#templates .feature")
    check("system message" in texts(browser, "#tip")[0], "hovering a feature tells nothing")


def check_findings_and_vocabulary(browser):
    found = texts(browser, "#findings li") + texts(browser, "#findings-about")
    check(found and "check" in found[-1] or "Nothing" in found[-1], f"findings: {found}")
    check(not any("`" in text for text in found), f"backticks are left: {found}")
    legend = [text.strip() for text in texts(browser, "#memory-legend > span")]
    check(legend == ["weights", "cache", "work space"], f"the legend of memory: {legend}")
    facts = texts(browser, "#vocabulary-facts div")
    check(any(text.startswith("Tokens1,024") for text in facts), f"vocabulary: {facts}")
    special = texts(browser, "#special-tokens dd")
    check("<s> 1" in special, f"special tokens: {special}")


def check_table(browser):
    browser.click("#tensor-table th:nth-child(4) button")  # Size: the largest first
    first = texts(browser, "#tensor-table tbody tr:first-child td:nth-child(4)")[0]
    check(browser.run("return document.querySelector('#tensor-table th:nth-child(4)')"
                      ".getAttribute('aria-sort')") == "descending", "not sorted")
    browser.click("#tensor-table th:nth-child(4) button")
    check(texts(browser, "#tensor-table tbody tr:first-child td:nth-child(4)")[0] != first,
          "the order is not reversed")
    browser.type("#tensor-table input", "blk.3. norm")
    check(texts(browser, "#tensor-table tbody td:first-child") ==
          ["blk.3.attn_norm.weight", "blk.3.ffn_norm.weight"], "the filter is wrong")
    browser.run("document.querySelector('#tensor-table input').value = '';"
                "document.querySelector('#tensor-table input').dispatchEvent(new Event('input'))")
    browser.click("#type-legend button:last-child")  # F32 alone
    types = set(texts(browser, "#tensor-table tbody td:nth-child(2)"))
    check(types == {"F32"}, f"a type alone, but {types}")
    browser.click("#type-legend button:last-child")


def check_pointer_and_keys(browser):
    browser.hover(".cell[data-x='2'][data-y='1']")
    check("blk.2." in texts(browser, "#tip")[0], "hovering tells nothing")
    browser.click(".cell[data-x='0'][data-y='0']")
    before = texts(browser, "#tensor-name")[0]
    browser.press("right", "right", "down", "enter")
    after = texts(browser, "#tensor-name")[0]
    check(before.startswith("blk.0.") and after.startswith("blk.2."), f"{before} to {after}")
    check(before.split(".")[2] != after.split(".")[2], "the arrow down does nothing")
    browser.run("document.getElementById('histogram').focus()")
    browser.press("right")
    check("weight" in texts(browser, "#bin")[0], "the histogram does not answer to keys")
    browser.run("const select = document.getElementById('metric'); select.value = '5';"
                "select.dispatchEvent(new Event('change'))")
    check("dB" in texts(browser, "#scale")[0], "the map cannot show the error")


def background(browser):
    return browser.run("return getComputedStyle(document.body).backgroundColor")


def check_themes(browser, path):
    colours = {}
    for scheme in ("light", "dark"):
        browser.prefer(scheme)
        open_page(browser, path)
        colours[scheme] = background(browser)
    check(colours["light"] != colours["dark"], "light and dark are the same")
    browser.click("#theme")  # from automatic, which is dark now, to light
    check(background(browser) == colours["light"], "the button does not make it light")
    browser.click("#theme")
    browser.prefer("light")
    check(background(browser) == colours["dark"], "the button does not make it dark")
    browser.click("#theme")


def check_width(browser, path):
    browser.resize(*PHONE)
    open_page(browser, path)
    wide = browser.run("return document.documentElement.scrollWidth")
    check(wide <= PHONE[0], f"the page is {wide} wide on a phone")
    browser.resize(*DESKTOP)


def check_hostile(browser, path):
    open_page(browser, path)
    check(browser.run("return document.querySelectorAll('img, b[onclick]').length") == 0, "injected")
    check(browser.run("return document.scripts.length") == 2, "a script more")
    names = texts(browser, "#tensor-table tbody td:first-child")
    check("</script><img src=x>zz" in names, "the name is not shown as it is")
    check("<b onclick=ev()>'&\"\\u{202e}" in names, "the mark that turns text is not spelled out")
    check("<!--<script>alert(" in texts(browser, "h1")[0], "the title is not shown as it is")


def take_screenshots(browser, path, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for scheme in ("light", "dark"):
        browser.prefer(scheme)
        for name, (width, _) in (("desktop", DESKTOP), ("phone", PHONE)):
            browser.resize(width, 900)
            open_page(browser, path)
            height = browser.run("return Math.min(document.documentElement.scrollHeight, 4000)")
            browser.resize(width, height)
            browser.screenshot(folder / f"{name}-{scheme}.png")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--screenshots", type=pathlib.Path)
    parser.add_argument("--page", type=pathlib.Path, help="of this page instead")
    arguments = parser.parse_args()
    if not web_driver.is_available():
        print("skipped: there is no chromium with chromedriver")
        raise SystemExit(77)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        make_pages(arguments.program.resolve(), folder)
        page = folder / "page.html"
        with web_driver.Browser(*DESKTOP, profile=folder / "profile") as browser:
            browser.prefer("light")
            open_page(browser, page)
            check_parts(browser)
            check_template(browser)
            check_findings_and_vocabulary(browser)
            check_table(browser)
            check_pointer_and_keys(browser)
            check_width(browser, page)
            check_themes(browser, page)
            check_hostile(browser, folder / "hostile.html")
            open_page(browser, folder / "header.html")
            check(browser.messages() == [], "the console says something")
            if arguments.screenshots:
                shown = (arguments.page or page).resolve()
                take_screenshots(browser, shown, arguments.screenshots)


if __name__ == "__main__":
    main()
