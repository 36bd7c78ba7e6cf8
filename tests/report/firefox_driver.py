# SPDX-License-Identifier: MIT
"""What web_driver.py does, for Firefox, by the protocol that it brings (Marionette,
https://firefox-source-docs.mozilla.org/testing/marionette/Protocol.html): the commands of WebDriver as messages
`LENGTH:[0, id, command, parameters]` over a connection."""
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import time

import web_driver

# Paths of WebDriver, and the commands of Marionette. {} is an element.
COMMANDS = {"/url": "WebDriver:Navigate", "/execute/sync": "WebDriver:ExecuteScript", "/element": "WebDriver:FindElement",
            "/element/{}/click": "WebDriver:ElementClick", "/element/{}/value": "WebDriver:ElementSendKeys",
            "/actions": "WebDriver:PerformActions", "/screenshot": "WebDriver:TakeScreenshot"}
# Where the program takes its settings from. Port 0: any that is free.
PREFERENCES = {"marionette.port": 0, "remote.log.level": '"Fatal"', "ui.prefersReducedMotion": 1,
               "browser.shell.checkDefaultBrowser": "false", "app.update.auto": "false", "network.proxy.type": 0,
               "browser.startup.homepage_override.mstone": '"ignore"', "datareporting.policy.dataSubmissionEnabled": "false"}
# Errors of pages, not those of the browser's own parts, and what pages say by console.
MESSAGES = """
  const said = [];
  for (const one of Services.console.getMessageArray()) {
    if (one instanceof Ci.nsIScriptError && one.sourceName.startsWith('http')) said.push(one.errorMessage);
  }
  Services.console.reset();
  const storage = Cc['@mozilla.org/consoleAPI-storage;1'].getService(Ci.nsIConsoleAPIStorage);
  for (const event of storage.getEvents()) {
    if (String(event.filename).startsWith('http')) said.push(event.arguments.join(' '));
  }
  storage.clearEvents();
  return said;"""


def is_available():
    return shutil.which("firefox-esr") is not None


class Browser(web_driver.Browser):
    """A Firefox without a window, for a `with` statement."""

    def __init__(self, width, height, profile):
        profile = pathlib.Path(profile)
        profile.mkdir(parents=True)
        (profile / "user.js").write_text("".join(f'user_pref("{name}", {value});\n' for name, value in PREFERENCES.items()))
        self.driver = subprocess.Popen(
            ["firefox-esr", "--headless", "--no-remote", "--marionette", "--remote-allow-system-access", "--profile", profile],
            env={**os.environ, "HOME": str(profile), "MOZ_HEADLESS_WIDTH": str(width), "MOZ_HEADLESS_HEIGHT": str(height)},
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.connection = socket.create_connection(("127.0.0.1", self.port_of(profile)), timeout=120)
        self.rest, self.count = b"", 0
        self.read()  # who is there
        self.call("WebDriver:NewSession", {"capabilities": {"alwaysMatch": {"acceptInsecureCerts": False}}})
        self.resize(width, height)

    def port_of(self, profile):
        file = profile / "MarionetteActivePort"
        for _ in range(1200):
            if file.exists() and file.read_text().strip():
                return int(file.read_text())
            time.sleep(0.1)
        raise RuntimeError("Firefox does not listen")

    def __exit__(self, *_):
        self.connection.close()
        self.driver.terminate()
        self.driver.wait()

    def read(self):
        while b":" not in self.rest or len(self.rest) < self.length():
            part = self.connection.recv(1 << 16)
            if not part:
                raise RuntimeError("Firefox has gone")
            self.rest += part
        end = self.length()
        message, self.rest = self.rest[:end], self.rest[end:]
        return json.loads(message.partition(b":")[2])

    def length(self):
        digits, _, _ = self.rest.partition(b":")
        return len(digits) + 1 + int(digits)

    def call(self, command, parameters):
        self.count += 1
        message = json.dumps([0, self.count, command, parameters]).encode()
        self.connection.sendall(b"%d:%s" % (len(message), message))
        _, _, error, result = self.read()
        if error:
            raise RuntimeError(f"{command}: {error['message']}")
        return result.get("value") if isinstance(result, dict) and "value" in result else result

    def send(self, method, path, body):
        element = re.fullmatch(r"/element/([^/]+)/\w+", path)
        command = COMMANDS[path.replace(element[1], "{}") if element else path]
        return self.call(command, {**(body or {}), **({"id": element[1]} if element else {})})

    def in_program(self, script, *arguments):
        """Runs a script in the browser itself."""
        self.call("Marionette:SetContext", {"value": "chrome"})
        try:
            return self.run(script, *arguments)
        finally:
            self.call("Marionette:SetContext", {"value": "content"})

    def messages(self):
        return self.in_program(MESSAGES)

    def resize(self, width, height, scale=1):
        # The window is made no narrower than its tools; what is around the page is added.
        self.in_program("""document.documentElement.style.minWidth = '0';
          const page = gBrowser.selectedBrowser.getBoundingClientRect();
          window.resizeTo(arguments[0] + window.outerWidth - page.width, arguments[1] + window.outerHeight - page.height);""",
                        width, height)
        for _ in range(100):
            if self.run("return innerWidth") == width:
                return
            time.sleep(0.05)

    def prefer(self, scheme):
        self.in_program("Services.prefs.setIntPref('layout.css.prefers-color-scheme.content-override', arguments[0])",
                        {"dark": 0, "light": 1}[scheme])
