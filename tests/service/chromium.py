"""Chromium without a window, steered over a pipe with the DevTools protocol. It needs the standard library alone."""

import base64
import json
import os
import shutil
import subprocess
import threading

CHROMIUM = shutil.which("chromium")

# Longer than anything here takes, however busy the machine is.
PATIENCE_S = 240


class Browser:
    """One page in a browser of its own. `told` holds what the page's console got (errors, warnings, exceptions),
    `dialogs` the messages of alert() and its like."""

    def __init__(self, profile, width=1400, height=1000):
        to_browser, self._to = os.pipe()
        self._from, from_browser = os.pipe()
        self._log = open(os.path.join(profile, "chromium.log"), "w+b")
        words = [CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                 "--hide-scrollbars", "--no-first-run", "--disable-background-networking",
                 f"--user-data-dir={profile}", f"--window-size={width},{height}", "--remote-debugging-pipe",
                 "about:blank"]
        # The protocol's descriptors are 3 and 4.
        self._process = subprocess.Popen(
            ["sh", "-c", f'exec "$0" "$@" 3<&{to_browser} 4>&{from_browser}', *words],
            pass_fds=(to_browser, from_browser), stdin=subprocess.DEVNULL, stdout=self._log, stderr=self._log)
        os.close(to_browser)
        os.close(from_browser)
        self._asked = 0
        self._left = b""
        self.told, self.dialogs = [], []
        self._loaded = 0
        # A browser that hangs is ended, which ends the read that waits for it.
        self._guard = threading.Timer(PATIENCE_S, self._process.kill)
        self._guard.start()
        targets = self._command("Target.getTargets")["targetInfos"]
        page = next(one["targetId"] for one in targets if one["type"] == "page")
        self._session = self._command("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")
        self.size(width, height)

    def close(self):
        self._guard.cancel()
        self._process.terminate()
        try:
            self._process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._to)
        os.close(self._from)
        self._log.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def size(self, width, height):
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def mode(self, scheme):
        """`light` or `dark`."""
        self.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def open(self, url):
        """Until the page has loaded."""
        before = self._loaded
        self.send("Page.navigate", url=url)
        while self._loaded == before:
            self._note(self._read())

    def value(self, expression):
        """The value of a JavaScript expression, which may be a promise; an AssertionError for one that throws."""
        answer = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise AssertionError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def until(self, condition):
        """Waits in the page until the JavaScript expression is true, and returns its value."""
        return self.value(f"""new Promise((done) => {{
            const look = () => {{ const value = ({condition}); if (value) done(value); else setTimeout(look, 30); }};
            look();
        }})""")

    def picture(self, path):
        """Writes the whole page as a PNG."""
        content = self.send("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": content["width"], "height": content["height"], "scale": 1}
        data = self.send("Page.captureScreenshot", format="png", clip=clip, captureBeyondViewport=True)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def send(self, method, **parameters):
        """A command to the page."""
        return self._command(method, self._session, **parameters)

    def _command(self, method, session=None, **parameters):
        self._asked += 1
        message = {"id": self._asked, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._to, data):]
        while True:
            answer = self._read()
            if answer.get("id") == self._asked:
                if "error" in answer:
                    raise AssertionError(f"{method}: {answer['error']}")
                return answer["result"]
            self._note(answer)

    def _read(self):
        while b"\0" not in self._left:
            more = os.read(self._from, 1 << 16)
            if not more:
                self._log.seek(0)
                raise AssertionError("chromium ended: " + self._log.read().decode(errors="replace")[-2000:])
            self._left += more
        message, self._left = self._left.split(b"\0", 1)
        return json.loads(message)

    def _note(self, event):
        parameters = event.get("params", {})
        match event.get("method"):
            case "Page.loadEventFired":
                self._loaded += 1
            case "Page.javascriptDialogOpening":
                self.dialogs.append(parameters["message"])
                self._asked += 1
                answer = {"id": self._asked, "method": "Page.handleJavaScriptDialog", "params": {"accept": True},
                          "sessionId": self._session}
                os.write(self._to, json.dumps(answer).encode() + b"\0")
            case "Runtime.exceptionThrown":
                self.told.append(str(parameters["exceptionDetails"]))
            case "Runtime.consoleAPICalled" if parameters["type"] in ("error", "warning", "assert"):
                self.told.append(str(parameters["args"]))
            case "Log.entryAdded" if parameters["entry"]["level"] in ("error", "warning"):
                self.told.append(f"{parameters['entry']['text']} {parameters['entry'].get('url', '')}")
