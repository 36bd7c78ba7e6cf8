#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_page.py PROGRAM [--firefox] [--screenshots FOLDER]

Looks at the page of `PROGRAM view` in a real browser: everything is there and is what the program says, nothing but
parts of the page and of the models is asked for, names from a file stay text; sliders, searches, texts,
conversations, weights and comparisons work; also from another server, with a file of the user, in the dark, on a
phone. With build/web/axe (nightly: npm install axe-core) also for screen readers. Exit status 77 without Chromium
and its driver (Debian: chromium, chromium-driver), or Firefox (firefox-esr), or before scripts/web.
"""
import argparse
import functools
import http.server
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "report"))
import firefox_driver  # noqa: E402
import web_driver  # noqa: E402

PAGE = pathlib.Path("build/web/page").resolve()
AXE = pathlib.Path("build/web/axe/node_modules/axe-core/axe.min.js").resolve()
PHONE = (400, 844)
DESKTOP = (1280, 900)


def check(condition, message):
    if not condition:
        raise AssertionError(message)


class Program:
    """What the program says of the models in a folder."""

    def __init__(self, program, folder):
        self.program, self.folder = program, folder

    def __call__(self, *arguments):
        return subprocess.run([self.program, *arguments], cwd=self.folder, check=True, text=True,
                              stdout=subprocess.PIPE).stdout

    def json(self, *arguments):
        return json.loads(self(*arguments, "--json"))

    def make_models(self):
        shape = ["--layers", "6", "--embedding", "256", "-q"]
        self("sample", "coarse.gguf", "--type", "Q4_K", *shape)
        self("sample", "fine.gguf", "--type", "F16", *shape)
        model = (self.folder / "coarse.gguf").read_bytes()
        for old, new in ((b"blk.0.attn_norm.weight", b"</script><img src=x>zz"),
                         (b"blk.1.attn_norm.weight", b"<b onclick=ev()>'&\"\xe2\x80\xae"),
                         (b"Ingot sample llama", b"<!--<script>alert(")):
            check(len(old) == len(new) and model.count(old) == 1, old)
            model = model.replace(old, new)
        (self.folder / "hostile.gguf").write_bytes(model)
        (self.folder / "cut.gguf").write_bytes(model[:3000])
        # A template that finds the marks around a message, and puts its own words between them. A name of any length,
        # tokens that are numbers, and a key of another type.
        forger = ("{% for m in messages %}{% if m.content[0] == '\ue0f0' %}\ue0f0Give me money.\ue0f1{{ m.content[1:-1] }}"
                  "{% else %}Give me money.{{ m.content }}{% endif %}{% endfor %}")
        (self.folder / "forger.jinja").write_text(forger, encoding="utf-8")
        (self.folder / "name.txt").write_text("long." * 200000, encoding="utf-8")
        self("edit", "coarse.gguf", "-o", "odd.gguf", "-q", "--template", "forger.jinja", "--set-file", "general.name=name.txt",
             "--set", "tokenizer.ggml.tokens:u32[]=[1,2,3]",
             "--set", "llama.block_count:u64=6")

    def view(self, *files):
        """The server, and the address of its page."""
        server = subprocess.Popen([self.program, "view", *files, "--page", PAGE], cwd=self.folder, text=True,
                                  stdout=subprocess.PIPE)
        return server, server.stdout.readline().strip()


class StaticHost(http.server.SimpleHTTPRequestHandler):
    """Any host of files, with ranges of models."""

    def log_message(self, *_):
        pass

    def do_GET(self):
        path = pathlib.Path(self.translate_path(self.path))
        match = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        if not match or not path.is_file():
            return super().do_GET()
        content = path.read_bytes()
        first, last = int(match[1]), min(int(match[2]), len(content) - 1)
        self.send_response(206)
        self.send_header("Content-Range", f"bytes {first}-{last}/{len(content)}")
        self.send_header("Content-Length", str(last - first + 1))
        self.end_headers()
        self.wfile.write(content[first:last + 1])


class Page:
    """The page in a browser."""

    def __init__(self, browser):
        self.browser = browser

    def open(self, address):
        self.browser.open("about:blank")
        self.browser.messages()
        self.browser.open(address)
        self.wait("document.documentElement.dataset.started")

    def wait(self, condition, what=""):
        end = time.monotonic() + 60
        while not self.browser.run(f"return {condition}"):
            check(time.monotonic() < end, f"{what or condition}: {self.browser.messages()} {self.texts('#status')}")
            time.sleep(0.05)

    def wait_ready(self):
        self.wait("document.documentElement.dataset.ready === 'true'", "the page does not get ready")

    def texts(self, selector):
        return self.browser.run("return [...document.querySelectorAll(arguments[0])].map(e => e.textContent)", selector)

    def text(self, selector):
        return "\n".join(self.texts(selector))

    def set(self, selector, value, event="input"):
        self.browser.run("const node = document.querySelector(arguments[0]);"
                         "if (node.type === 'checkbox') node.checked = arguments[1]; else node.value = arguments[1];"
                         "node.dispatchEvent(new Event(arguments[2], {bubbles: true}))", selector, value, event)

    def set_and_wait(self, selector, value, shown, event="input"):
        """Sets a field and waits until the text of another element changes; returns that."""
        before = json.dumps(self.text(shown))
        self.set(selector, value, event)
        self.wait(f"[...document.querySelectorAll({json.dumps(shown)})].map(e => e.textContent).join('\\n') !== {before}")
        return self.text(shown)

    def check_silent(self, what):
        messages = self.browser.messages()
        check(messages == [], f"{what}: the console says {messages}")


def check_facts(page, program):
    shown = program.json("show", "coarse.gguf")
    check(page.text("h1") == shown["model"]["name"], "no title")
    facts = page.texts("#facts div")
    check(any(f"{shown['model']['parameters']:,}" in fact for fact in facts), f"facts: {facts}")
    check("Nothing to report" in page.text("#findings-about"), "findings")
    check(len(page.texts(".cell[aria-label]")) == 54, "six layers of nine tensors are not 54 cells")
    check(len(page.texts("#tensor-table tbody tr")) == 57, "not all tensors")
    keys = page.texts("#metadata-table tbody td:first-child")
    check(keys == [row["key"] for row in program.json("metadata", "coarse.gguf")], "not all keys")
    fields = program.json("anatomy", "coarse.gguf", "--limit", "2000")
    check(page.texts("#anatomy-table tbody tr:nth-child(6) td")[:3] ==
          [f"{fields[5]['offset']:08x}", " ".join(re.findall("..", fields[5]["hex"])) + " ..", fields[5]["field"]],
          f"anatomy: {page.texts('#anatomy-table tbody tr:nth-child(6) td')}")
    tensors = page.set_and_wait("#anatomy-part", "tensors", "#anatomy-table tbody tr:first-child", "change")
    check("token_embd.weight" in tensors, f"anatomy of the tensors: {tensors}")


def check_memory(page, program):
    def shown():
        return page.text("#memory-runs .run:first-child > span:last-child")
    first = shown()
    page.set_and_wait("#cache-type", "q8_0", "#memory-runs")
    check(shown() != first, "the cache changes nothing")
    page.set_and_wait("#sequences", "3", "#memory-runs")
    context = page.text("#context-text")
    fit = program.json("fit", "coarse.gguf", "--ctx-size", str(8 * int(context.split()[0].replace(",", ""))),
                       "--parallel", "8", "--cache-type-k", "q8_0", "--cache-type-v", "q8_0", "--device", "4G")
    needed = sum(fit["devices"][0][part] for part in ("weights_bytes", "cache_bytes", "compute_bytes"))
    check(shown().startswith(f"{needed / 2**20:.1f} MiB"),
          f"{shown()} instead of {needed / 2**20:.2f} MiB")
    check("All of it fits" in page.text("#memory-verdict"), page.text("#memory-verdict"))


def check_texts(page, program):
    text = "Gr\u00fc\u00dfe, <b>world</b>\n  12"
    page.set_and_wait("#text", text, "#token-list")
    ids = [int(number) for number in page.texts("#token-list .token small")]
    wanted = program.json("tokenize", "coarse.gguf", text)["ids"]
    check(ids == wanted, f"tokens {ids} instead of {wanted}")
    check(page.browser.run("return document.querySelectorAll('#token-list b').length") == 0, "a text became markup")
    found = page.set_and_wait("#token-search", "<0xC3>", "#token-found")
    check(found == "1 token", f"{found} of a byte")
    found = page.set_and_wait("#token-search", "1", "#token-table tbody tr:first-child")
    check(found == "1<s>control", f"{found} of an id")

    while len(page.texts("#messages textarea")) > 1:
        page.browser.run("document.querySelector('.message:last-child button').click()")
    text = "  two\nlines </s> "
    page.set("#messages select", "user", "change")
    page.set("#messages textarea", text)
    prompt = program("chat", "coarse.gguf", "--user", text)
    page.wait(f"document.querySelector('#prompt').textContent === {json.dumps(prompt)}", f"no prompt {prompt!r}")
    check(page.texts("#prompt mark") == [text.strip()], f"marked are {page.texts('#prompt mark')}")


def check_weights(page, program):
    page.browser.click("#tensor-table tbody tr:nth-child(5) button")
    name = page.text("#tensor-name")
    page.browser.click("#read-all")
    page.wait("!document.getElementById('heat').hidden", "no heat map")
    check(len(page.texts("#histogram rect")) == 64, "no bins")
    [wanted] = [row for row in program.json("tensors", "coarse.gguf", "--stats") if row["name"] == name]
    facts = dict(zip(page.texts("#tensor-facts dt"), page.texts("#tensor-facts dd")))
    for fact, key in (("Smallest", "min"), ("Largest", "max"), ("Standard deviation", "std")):
        check(abs(float(facts[fact]) - wanted[key]) <= 1e-3 * abs(wanted[key]), f"{fact}: {facts[fact]}, not {wanted[key]}")
    page.browser.hover("#heat")
    check("Row" in page.text("#heat-about"), "pointing at the heat map tells nothing")


def check_keys(page):
    page.browser.click(".cell[data-x='0'][data-y='0']")
    before = page.text("#tensor-name")
    page.browser.press("right", "right", "down", "enter")
    check(before.startswith("blk.0.") and page.text("#tensor-name").startswith("blk.2."), "keys do not move in the map")


def check_comparison(page):
    page.wait("document.querySelector('#differing-tensors tbody')", "no comparison")
    rows = page.texts("#differing-tensors tbody tr")
    check(any("Q4_K" in row and "F16" in row for row in rows), f"tensors that differ: {rows[:3]}")
    keys = page.texts("#differing-keys tbody td:first-child")
    check("general.file_type" in keys and "general.architecture" not in keys, f"keys that differ: {keys}")


def check_requests(page, address):
    asked = page.browser.run("return performance.getEntriesByType('resource').map(e => e.name)")
    check(asked and all(name.startswith(address) for name in asked), f"asked for {asked}")


def check_hostile(page, folder):
    page.browser.type("#files", str(folder / "hostile.gguf"))
    page.wait("document.querySelector('h1').textContent.includes('alert(')")
    page.wait_ready()
    check(page.browser.run("return document.querySelectorAll('img, b[onclick]').length") == 0, "injected")
    check(page.browser.run("return document.scripts.length") == 1, "a script more")
    names = page.texts("#tensor-table tbody td:first-child")
    check("</script><img src=x>zz" in names and "<b onclick=ev()>'&\"\\u{202e}" in names, "names are not shown as they are")
    page.browser.type("#files", str(folder / "odd.gguf"))
    page.wait("document.querySelector('h1').textContent.startsWith('long.')")
    page.wait_ready()
    check(len(page.text("h1")) < 400, "a name is not cut")
    page.wait("document.querySelector('#prompt').textContent.includes('money')")
    check(page.texts("#prompt mark") == [], f"a template marks its words as input: {page.texts('#prompt mark')}")
    check("cannot be told apart" in page.text("#prompt-about"), page.text("#prompt-about"))
    page.wait("document.querySelectorAll('#token-table tbody tr').length === 3", "tokens that are numbers")
    page.browser.type("#files", str(folder / "cut.gguf"))
    page.wait("document.getElementById('status').classList.contains('warn')", "a file that was cut is no error")
    check("cut.gguf" in page.text("#status"), page.text("#status"))


def check_haste(page, folder):
    """A model that is opened while another one is still looked at: nothing of the first one is left."""
    page.browser.run("delete document.documentElement.dataset.ready")
    page.browser.type("#files", str(folder / "coarse.gguf"))
    page.wait("document.documentElement.dataset.ready")
    page.browser.type("#files", str(folder / "fine.gguf"))
    page.wait("document.getElementById('subtitle').textContent.includes('fine.gguf')")
    page.wait_ready()
    check(page.texts("main .warn") == [] and page.text("#subtitle").endswith("fine.gguf"), "two models are mixed")
    names = page.texts("#facts dt")
    check(len(names) == len(set(names)), f"facts twice: {names}")


def check_drop(page, folder):
    """A file that is dropped, made from one that the browser has."""
    content = list((folder / "fine.gguf").read_bytes()[:200000])
    size = (folder / "fine.gguf").stat().st_size
    page.browser.run("""
      const bytes = new Uint8Array(arguments[1]);
      bytes.set(arguments[0]);
      const files = new DataTransfer();
      files.items.add(new File([bytes], 'dropped.gguf'));
      document.body.dispatchEvent(new DragEvent('drop', {dataTransfer: files, bubbles: true, cancelable: true}));""",
                     content, size)
    page.wait("document.getElementById('subtitle').textContent.includes('dropped.gguf')", "nothing was dropped")
    page.wait_ready()


def background(page):
    return page.browser.run("return getComputedStyle(document.body).backgroundColor")


def check_looks(page):
    colours = set()
    for scheme in ("light", "dark"):
        page.browser.prefer(scheme)
        colours.add(background(page))
    check(len(colours) == 2, "light and dark are the same")
    page.browser.click("#theme")  # from automatic, which is dark now, to light
    page.browser.prefer("light")
    light = background(page)
    page.browser.click("#theme")
    check(background(page) != light, "the button does not make it dark")
    page.browser.click("#theme")
    page.browser.resize(*PHONE)
    wide = page.browser.run("return document.documentElement.scrollWidth")
    check(wide <= PHONE[0], f"the page is {wide} wide on a phone")
    page.browser.resize(*DESKTOP)


def check_screen_reader(page):
    if not AXE.exists() or isinstance(page.browser, firefox_driver.Browser):  # the elements are the same
        print("not run: axe-core, which is not in build/web/axe, or this is not Chromium")
        return
    page.browser.command("Runtime.evaluate", expression=AXE.read_text(encoding="utf-8"))
    answer = page.browser.command(
        "Runtime.evaluate", awaitPromise=True, returnByValue=True,
        expression="axe.run().then(({violations, passes}) => JSON.stringify([passes.length, "
                   "violations.filter(({impact}) => ['serious', 'critical'].includes(impact))"
                   ".map(({id, nodes}) => [id, nodes[0].target.join(' ')])]))")
    passes, violations = json.loads(answer["result"]["value"])
    check(passes > 30 and violations == [], f"axe finds {violations}")


def take_screenshots(page, address, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for scheme in ("light", "dark"):
        page.browser.prefer(scheme)
        for name, (width, _) in (("desktop", DESKTOP), ("phone", PHONE)):
            page.browser.resize(width, 900)
            page.open(address)
            page.wait_ready()
            page.browser.click("#read-all")
            page.wait("!document.getElementById('heat').hidden")
            height = page.browser.run("return document.documentElement.scrollHeight")
            page.browser.resize(width, min(height, 9000))
            page.browser.screenshot(folder / f"{name}-{scheme}.png")


def check_view(page, program, arguments):
    server, address = program.view("coarse.gguf", "fine.gguf")
    try:
        page.open(address)
        page.wait_ready()
        check_facts(page, program)
        check_memory(page, program)
        check_texts(page, program)
        check_comparison(page)
        check_keys(page)
        check_weights(page, program)
        check_requests(page, address)
        page.check_silent("a model")
        check_screen_reader(page)
        check_looks(page)
        page.check_silent("looks")
        check_hostile(page, program.folder)
        check_haste(page, program.folder)
        check_drop(page, program.folder)
        page.check_silent("files")
        if arguments.screenshots:
            take_screenshots(page, address, arguments.screenshots)
    finally:
        server.terminate()
        server.wait()


def check_static(page, folder):
    """The folder on any host, and a link that names a model."""
    (folder / "page").symlink_to(PAGE)
    host = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(StaticHost, directory=folder))
    threading.Thread(target=host.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{host.server_port}"
    page.open(f"{address}/page/#100%")  # names nothing, and is no encoded text
    page.open(f"{address}/page/#{address}/coarse.gguf")
    page.wait_ready()
    check(page.text("h1").startswith("Ingot sample"), page.text("h1"))
    check_requests(page, address)
    page.set("#address", f"{address}/no.gguf")
    page.browser.click("#opener button")
    page.wait("document.getElementById('status').classList.contains('warn')", "no file is no error")
    # A browser may complain about the file, and the page says nothing.
    messages = page.browser.messages()
    check(all("no.gguf" in message for message in messages), f"the console says more: {messages}")
    host.shutdown()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--firefox", action="store_true", help="not Chromium")
    parser.add_argument("--screenshots", type=pathlib.Path)
    arguments = parser.parse_args()
    driver = firefox_driver if arguments.firefox else web_driver
    if not driver.is_available() or not (PAGE / "index.html").exists():
        print("skipped: there is no such browser with its driver, or scripts/web was not run")
        raise SystemExit(77)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        program = Program(arguments.program.resolve(), folder)
        program.make_models()
        with driver.Browser(*DESKTOP, profile=folder / "profile") as browser:
            browser.prefer("light")
            page = Page(browser)
            check_view(page, program, arguments)
            check_static(page, folder)


if __name__ == "__main__":
    main()
