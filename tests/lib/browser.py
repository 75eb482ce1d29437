"""A headless Chromium, driven by its driver's WebDriver interface: for tests of pages.

	with Browser(directory, width=1280, height=900, dark=False) as browser:
	    browser.open("/tmp/page.html")
	    browser.run("return document.title")
	    browser.drag((10, 10), (50, 50))
	    browser.picture("shot.png")
	    browser.console(), browser.requests()

Nothing but Python's own library is needed, and chromium and chromedriver.

	browser.py DIRECTORY	starts one, says where it is, and ends it with its own input

With that in $BROWSER, each Browser is a window of its own of that one, since to start one takes two seconds of processor time.
"""
import base64
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars",
         "--force-device-scale-factor=1", "--disable-features=Translate,OptimizationHints,MediaRouter"]


def there():
    return all(shutil.which(tool) for tool in ("chromium", "chromedriver"))


class Browser:
    def __init__(self, directory=None, width=1280, height=900, dark=False):
        self.driver = None
        if "BROWSER" in os.environ:
            self.base, self.session = os.environ["BROWSER"].split()
            self.first = self.ask("GET", self.session + "/window")
            self.show(self.ask("POST", self.session + "/window/new", {"type": "window"})["handle"])
            self.console()
            self.size(width, height)
            self.dark(dark)
            return
        self.profile = tempfile.mkdtemp(dir=directory)
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        self.base = f"http://127.0.0.1:{port}"
        self.driver = subprocess.Popen(["chromedriver", f"--port={port}", "--log-level=OFF"], stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL, env=os.environ | {"HOME": self.profile})
        self.session = None
        try:
            self.wait_for_driver()
            options = {"args": FLAGS + [f"--user-data-dir={self.profile}/data", f"--window-size={width},{height}"],
                       "binary": shutil.which("chromium")}
            capabilities = {"browserName": "chrome", "goog:chromeOptions": options,
                            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}
            got = self.ask("POST", "/session", {"capabilities": {"alwaysMatch": capabilities}})
            self.session = f"/session/{got['sessionId']}"
            self.size(width, height)
            self.dark(dark)
        except BaseException:
            self.close()
            raise

    def wait_for_driver(self):
        for _ in range(600):
            try:
                if self.ask("GET", "/status")["ready"]:
                    return
            except (urllib.error.URLError, ConnectionError):
                time.sleep(0.1)
        raise SystemExit("chromedriver does not answer")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def show(self, window):
        self.ask("POST", self.session + "/window", {"handle": window})

    def close(self):
        if not self.driver:
            self.ask("DELETE", self.session + "/window")
            self.show(self.first)
            return
        if self.session:
            try:
                self.ask("DELETE", self.session)
            except OSError:
                pass
        self.driver.terminate()
        self.driver.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    def ask(self, method, path, body=None):
        data = None if method != "POST" else json.dumps(body or {}).encode()
        request = urllib.request.Request(self.base + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise SystemExit(f"{method} {path}: {error.read().decode()[:2000]}")

    def cdp(self, command, **params):
        return self.ask("POST", self.session + "/goog/cdp/execute", {"cmd": command, "params": params})

    def size(self, width, height):
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def dark(self, dark):
        self.cdp("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def open(self, path):
        self.log("performance")  # the browser's own first page
        self.ask("POST", self.session + "/url", {"url": "file://" + os.path.abspath(path)})

    def run(self, script, *args):
        return self.ask("POST", self.session + "/execute/sync", {"script": script, "args": list(args)})

    def find(self, selector):
        return self.ask("POST", self.session + "/element", {"using": "css selector", "value": selector})[ELEMENT]

    def click(self, selector):
        self.ask("POST", f"{self.session}/element/{self.find(selector)}/click")

    def type(self, selector, text):
        self.ask("POST", f"{self.session}/element/{self.find(selector)}/value", {"text": text})

    def clear(self, selector):
        self.ask("POST", f"{self.session}/element/{self.find(selector)}/clear")

    def keys(self, *strokes):
        """Strokes of the keyboard: "ArrowLeft" as its WebDriver code; ("+", key) presses, ("-", key) releases."""
        actions = []
        for stroke in strokes:
            how, key = stroke if isinstance(stroke, tuple) else (None, stroke)
            if how != "-":
                actions.append({"type": "keyDown", "value": key})
            if how != "+":
                actions.append({"type": "keyUp", "value": key})
        self.ask("POST", self.session + "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def drag(self, start, end):
        """The mouse's button held from one point of the window to another."""
        def move(point):
            return {"type": "pointerMove", "duration": 20, "x": round(point[0]), "y": round(point[1]), "origin": "viewport"}
        middle = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
        actions = [move(start), {"type": "pointerDown", "button": 0}, move(middle), move(end), {"type": "pointerUp", "button": 0}]
        self.ask("POST", self.session + "/actions", {"actions": [{"type": "pointer", "id": "mouse", "actions": actions}]})

    def picture(self, path, whole=False, part=None):
        """Of what is seen, of the whole page, or of a part of it: left, top, width, height."""
        params = {}
        if part:
            params = {"captureBeyondViewport": True, "clip": {"scale": 1} | dict(zip(("x", "y", "width", "height"), part))}
        if whole:
            size = self.cdp("Page.getLayoutMetrics")["cssContentSize"]
            params = {"captureBeyondViewport": True, "clip": {"x": 0, "y": 0, "scale": 1, "width": size["width"], "height": size["height"]}}
        with open(path, "wb") as out:
            out.write(base64.b64decode(self.cdp("Page.captureScreenshot", format="png", **params)["data"]))

    def printed(self, path):
        with open(path, "wb") as out:
            out.write(base64.b64decode(self.cdp("Page.printToPDF", printBackground=False)["data"]))

    def log(self, kind):
        return self.ask("POST", self.session + "/se/log", {"type": kind})

    def console(self):
        """What the page has said, or the browser about it, since the last call."""
        return [entry["message"] for entry in self.log("browser")]

    def requests(self):
        """What has been asked for since the last call, but for the file itself."""
        asked = []
        for entry in self.log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                asked.append(message["params"]["request"]["url"])
        return [url for url in asked if not url.startswith("file://")]


if __name__ == "__main__":
    with Browser(sys.argv[1]) as kept:
        print(kept.base, kept.session, flush=True)
        sys.stdin.read()
