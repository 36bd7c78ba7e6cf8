# SPDX-License-Identifier: MIT
"""The little of the WebDriver protocol (https://www.w3.org/TR/webdriver2/) that tests need, spoken
to Debian's chromedriver."""
import base64
import json
import re
import shutil
import subprocess
import urllib.error
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # the protocol's name for a reference to one
KEYS = {"left": "\ue012", "up": "\ue013", "right": "\ue014", "down": "\ue015", "enter": "\ue007",
        "tab": "\ue004"}


def is_available():
    return shutil.which("chromedriver") is not None and shutil.which("chromium") is not None


class Browser:
    """A Chromium without a window, for a `with` statement."""

    def __init__(self, width, height, profile):
        # Port 0: any that is free.
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], text=True,
                                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        port = None
        for line in self.driver.stdout:
            if match := re.search(r"started successfully on port (\d+)", line):
                port = int(match[1])
                break
        self.base = f"http://127.0.0.1:{port}"
        # Containers lack what the sandbox wants; what is shown here is only our own page.
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                     "--disable-dev-shm-usage", f"--user-data-dir={profile}",
                     f"--window-size={width},{height}"]
        options = {"goog:chromeOptions": {"args": arguments},
                   "goog:loggingPrefs": {"browser": "ALL"}}
        session = self.post("/session", {"capabilities": {"alwaysMatch": options}})
        self.base += f"/session/{session['sessionId']}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.send("DELETE", "", None)
        finally:
            self.driver.terminate()
            self.driver.wait()

    def send(self, method, path, body):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, method=method,
                                         headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            what = json.load(error)["value"]["message"].partition("\n")[0]
            raise RuntimeError(f"{path}: {what}") from None

    def post(self, path, body):
        return self.send("POST", path, body)

    def open(self, address):
        self.post("/url", {"url": address})

    def run(self, script, *arguments):
        """What the body of a function returns."""
        return self.post("/execute/sync", {"script": script, "args": list(arguments)})

    def command(self, name, **parameters):
        """A command of the DevTools protocol."""
        return self.post("/goog/cdp/execute", {"cmd": name, "params": parameters})

    def find(self, selector):
        return self.post("/element", {"using": "css selector", "value": selector})[ELEMENT]

    def show(self, selector):
        # In the middle, where nothing that sticks to an edge can cover it.
        self.run("document.querySelector(arguments[0]).scrollIntoView({block: 'center'})", selector)

    def click(self, selector):
        self.show(selector)
        self.post(f"/element/{self.find(selector)}/click", {})

    def type(self, selector, text):
        self.post(f"/element/{self.find(selector)}/value", {"text": text})

    def press(self, *keys):
        """Keys for whatever has the focus."""
        actions = [{"type": kind, "value": KEYS[key]} for key in keys
                   for kind in ("keyDown", "keyUp")]
        self.post("/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def hover(self, selector):
        self.show(selector)
        origin = {ELEMENT: self.find(selector)}
        move = {"type": "pointerMove", "duration": 0, "x": 0, "y": 0, "origin": origin}
        self.post("/actions", {"actions": [{"type": "pointer", "id": "mouse", "actions": [move]}]})

    def messages(self):
        """What the page and the browser said on the console since the last call."""
        return [entry["message"] for entry in self.post("/se/log", {"type": "browser"})]

    def resize(self, width, height, scale=1):
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=height,
                     deviceScaleFactor=scale, mobile=False)

    def prefer(self, scheme):
        """light or dark, as the user's system would say."""
        # Without motion, what is clicked stays where it is.
        features = {"prefers-color-scheme": scheme, "prefers-reduced-motion": "reduce"}
        self.command("Emulation.setEmulatedMedia", features=[
            {"name": name, "value": value} for name, value in features.items()])

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.send("GET", "/screenshot", None)))
