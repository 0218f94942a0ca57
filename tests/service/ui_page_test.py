"""The live page in a browser: a run that goes on, one that is at its end, and candidates that attack whoever looks."""

import json
import os
import sys
import tempfile
import threading
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.request import Request, urlopen

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cli"))

from chromium import CHROMIUM, Browser
from support import SCORE, SEED, CommandTest, wait_for, write_task

# Where pictures of the pages are kept; nowhere, if it is not set.
PICTURES = os.environ.get("KERNELSMITH_UI_PICTURES")

# Everything that a candidate may try on a page, in a comment of the seed and so of every program.
HOSTILE = "</pre></script><script>alert(1)</script><img src=x onerror=alert(2)><!--\"'&lt; \x1b[31m\u202e\u2066\u200b"
HOSTILE_SEED = SEED + f"# {HOSTILE}\n"
# Rejects a 3 with the same words.
HOSTILE_SCORE = SCORE.replace("echo", 'case "$sum" in *9) cat "$1" >&2; exit 7 ;; esac\necho', 1)


class FakeService(BaseHTTPRequestHandler):
    """An evaluation service that finishes a request with every look, for whoever has the token."""

    TOKEN = "a-token-of-the-service"

    def do_GET(self):
        if self.headers["Authorization"] != f"Bearer {self.TOKEN}":
            return self.answer(401, "{}")
        looks = self.server.looks
        if self.path == "/health":
            self.server.looks += 1
            return self.answer(200, json.dumps({
                "status": "healthy", "version": "0.1.0", "uptime": 60.0 + looks, "active_tasks": 2,
                "queue_status": {"pending": 40 - looks, "max_queue": 64, "by_priority": {"high": 1, "normal": 39 - looks}}}))
        if self.path == "/workers/status":
            return self.answer(200, json.dumps({"total": 3, "workers": [
                {"worker_id": "slot-1", "status": "busy", "current_task": HOSTILE, "seconds": 1.5},
                {"worker_id": "slot-2", "status": "busy", "current_task": "task-7", "seconds": 70},
                {"worker_id": "slot-3", "status": "idle", "current_task": None, "seconds": 0}]}))
        self.answer(200, f'kernelsmith_requests_finished_total{{state="completed"}} {100 + looks}\n'
                         'kernelsmith_requests_finished_total{state="timeout"} 2\n'
                         f"kernelsmith_evaluation_seconds_sum {2 * looks}\nkernelsmith_evaluation_seconds_count {looks}\n")

    def answer(self, status, body):
        data = body.encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


@unittest.skipIf(CHROMIUM is None, "chromium is not installed")
class UiPageTest(CommandTest):
    def show(self, target, env=None):
        """The address of a page that follows the target until the test ends."""
        process = self.begin("ui", target, "--no-browser", env=env or {})
        line = process.stdout.readline()
        self.assertIn(" is shown at http://127.0.0.1:", line, "" if line else process.stderr.read())
        return line.split()[-1]

    @classmethod
    def setUpClass(cls):
        profile = tempfile.TemporaryDirectory(prefix="kernelsmith-test-", ignore_cleanup_errors=True)
        cls.addClassCleanup(profile.cleanup)
        cls.shared = Browser(profile.name)
        cls.addClassCleanup(cls.shared.close)

    def browser(self):
        """One for all tests, as if it was new."""
        self.shared.open("about:blank")
        self.shared.told.clear()
        self.shared.dialogs.clear()
        return self.shared

    def keep(self, browser, name):
        if PICTURES:
            browser.picture(Path(PICTURES) / name)

    def assert_harmless(self, browser):
        self.assertEqual(browser.told, [])
        self.assertEqual(browser.dialogs, [])
        self.assertEqual(browser.value("document.querySelectorAll('script, img, iframe, object').length"), 1,
                         "the page's own script alone")

    def test_a_run_at_its_end(self):
        write_task(self.folder / "task", seed_txt=HOSTILE_SEED, score_sh=HOSTILE_SCORE)
        self.succeed("run", "task", "--iterations", "80", "--out", "a.run", "--workers", "1", "--set", "islands.count=2")
        shown = self.json("show", "a.run")
        browser = self.browser()
        browser.open(self.show("a.run"))
        browser.until("document.querySelector('#part-best pre')")
        browser.until("document.querySelector('#part-lineage details')")
        words = browser.value("document.body.innerText")
        for says in ("a.run", "ended (its budget is used up: iterations)", "80 of 80 iterations",
                     f"program {shown['best']['program']}", f"{shown['counts']['accepted']} accepted",
                     "measured again at the end", "</script>", "alert(2)", "U+202E",
                     "U+001B", "command_failed", "How it came about", "Islands"):
            self.assertIn(says, words)
        self.assertIn(f"Archive: {shown['archive']['filled']} of", browser.value(
            "[...document.querySelectorAll('svg text.title')].map((one) => one.textContent).join()"))
        self.assertEqual(browser.value("document.getElementById('status').className"), "status still")
        self.assertNotIn("\u202e", words)
        self.keep(browser, "finished.png")
        browser.mode("dark")
        self.keep(browser, "finished-dark.png")
        browser.mode("light")
        self.open_programs(browser, shown)
        self.assert_harmless(browser)

    def open_programs(self, browser, shown):
        """By the map, by a link and by the keyboard."""
        cells = browser.value("document.querySelectorAll('svg rect[data-program]').length")
        self.assertEqual(cells, len({tuple(one["at"][:2]) for one in shown["archive"]["elites"]}))
        browser.value("document.querySelector('svg rect[data-program]')"
                      ".dispatchEvent(new MouseEvent('mouseover', {bubbles: true}))")
        self.assertRegex(browser.value("[...document.querySelectorAll('figcaption')].at(-1).textContent"),
                         r"^program \d+ \(\w+\), fitness \d+; knob\.k\d \d, knob\.k\d \d$")
        browser.value("document.querySelector('svg rect[data-program]')"
                      ".dispatchEvent(new MouseEvent('click', {bubbles: true}))")
        browser.until("document.querySelector('dialog[open] pre.code')")
        self.assertRegex(browser.value("document.querySelector('dialog h2').textContent"), r"^Program \d+ \(\w+\)$")
        self.assertIn("alert(2)", browser.value("document.querySelector('dialog').innerText"))
        self.keep(browser, "program.png")
        browser.value("document.querySelector('dialog button.close').click()")
        self.assertFalse(browser.value("document.querySelector('dialog').open"))
        failed = browser.value("Number(document.querySelector('#part-failures [data-program]').dataset.program)")
        browser.value("document.querySelector('#part-failures [data-program]').click()")
        browser.until("document.querySelector('dialog[open] h2')"
                      f"?.textContent.startsWith('Program {failed} ')")
        self.assertIn("Rejected: run, command_failed", browser.value("document.querySelector('dialog').innerText"))
        browser.value("document.querySelector('dialog').close()")

    def test_a_run_that_goes_on(self):
        """The numbers grow in a page that is never loaded again, until the run ends."""
        write_task(self.folder / "task", score_sh="sleep 0.04\n" + SCORE)
        browser = self.browser()
        self.begin("run", "task", "--iterations", "120", "--out", "a.run", "--workers", "1")
        wait_for((self.folder / "a.run/run.db").exists, "the run to begin")
        browser.open(self.show("a.run"))
        browser.value("window.sameDocument = true; 0")
        iterations = "Number(document.getElementById('status').textContent.match(/([0-9,]+) of 120 iter/)?.[1] ?? 0)"
        first = browser.until(iterations)
        self.assertIn("under way", browser.value("document.getElementById('status').textContent"))
        browser.until(f"{iterations} > {first}")
        second = browser.value(iterations)
        browser.until(f"{iterations} > {second}")
        self.keep(browser, "under-way.png")
        browser.until("document.getElementById('status').textContent.startsWith('ended')")
        self.assertEqual(browser.value(iterations), 120)
        self.assertTrue(browser.value("window.sameDocument"))
        self.assert_harmless(browser)

    def short_run(self):
        write_task(self.folder / "task")
        self.succeed("run", "task", "--iterations", "5", "--out", "a.run")

    def test_a_run_that_vanishes_and_comes_back(self):
        self.short_run()
        browser = self.browser()
        browser.open(self.show("a.run"))
        browser.until("document.getElementById('status').className === 'status still'")
        (self.folder / "a.run").rename(self.folder / "b.run")
        browser.until("!document.getElementById('trouble').hidden")
        self.assertIn("(not_found)", browser.value("document.getElementById('trouble').textContent"))
        (self.folder / "b.run").rename(self.folder / "a.run")
        browser.until("document.getElementById('trouble').hidden")

    def test_a_page_whose_server_went_says_so_and_finds_it_again(self):
        self.short_run()
        first = self.begin("ui", "a.run", "--no-browser")
        url = first.stdout.readline().split()[-1]
        port = url.split(":")[-1].strip("/")
        self.fail_with(2, "ui", "a.run", "--port", port, says=[f"127.0.0.1:{port}", "0 for a free one"], code="busy")
        browser = self.browser()
        browser.open(url)
        browser.until("document.getElementById('status').className === 'status still'")
        first.terminate()
        _, words = first.communicate(timeout=60)
        self.assertEqual(first.returncode, 0, "its end was asked for")
        self.assertIn("the page ends", words)
        browser.until("document.getElementById('trouble').textContent.includes('does not answer')")
        self.begin("ui", "a.run", "--no-browser", "--port", port)
        browser.until("document.getElementById('trouble').hidden")

    def test_a_service(self):
        service = ThreadingHTTPServer(("127.0.0.1", 0), FakeService)
        service.looks = 1
        threading.Thread(target=service.serve_forever, daemon=True).start()
        self.addCleanup(service.server_close)
        self.addCleanup(service.shutdown)
        address = f"http://127.0.0.1:{service.server_port}"
        self.fail_with(3, "ui", address, says=["wants a token", "KERNELSMITH_SERVICE_TOKEN"], code="permission")
        browser = self.browser()
        url = self.show(address, env={"KERNELSMITH_SERVICE_TOKEN": FakeService.TOKEN})
        browser.open(url)
        waiting = "Number(document.getElementById('status').textContent.match(/([0-9]+) requests waiting/)?.[1] ?? 0)"
        first = browser.until(waiting)
        browser.until(f"{waiting} < {first} && document.getElementById('status').textContent.includes('a minute')")
        words = browser.value("document.body.innerText")
        for says in (f"127.0.0.1:{service.server_port}", "healthy", "2 under way", "3 workers", "2 timeout",
                     "2 s an evaluation", "slot-3", "1:10", "alert(2)"):
            self.assertIn(says, words)
        self.assertNotIn("token", words)
        self.keep(browser, "service.png")
        self.assert_harmless(browser)

    def test_it_reads_only(self):
        """The run's files are the same after it was shown, but for the index that SQLite makes for every reader."""
        self.short_run()

        def contents():
            return {path.relative_to(self.folder): path.read_bytes() for path in (self.folder / "a.run").rglob("*")
                    if path.is_file() and path.name not in ("run.db-shm", "run.db-wal")}

        before = contents()
        url = self.show("a.run")
        for path in ("api/run", "api/programs/0"):
            with urlopen(url + path, timeout=60) as answer:
                self.assertEqual(answer.status, 200)
        self.assertEqual(contents(), before)
        self.succeed("resume", "a.run", "--iterations", "6")


class ServeTest(CommandTest):
    """What `kernelsmith serve` answers is what the page reads."""

    def test_its_queue_workers_and_rates_are_told(self):
        write_task(self.folder / "task")
        secret = {"KERNELSMITH_SERVICE_TOKEN": "0123456789abcdef0123456789abcdef"}
        serve = self.begin("serve", "--task", "task", "--port", "0", "--workers", "2", env=secret)
        address = serve.stdout.readline().split()[-1]
        body = json.dumps({"task_id": "one", "kernel_code": SEED, "workflow": "task:hill"}).encode()
        headers = {"Authorization": f"Bearer {secret['KERNELSMITH_SERVICE_TOKEN']}", "Content-Type": "application/json"}
        with urlopen(Request(address + "/evaluate", body, headers), timeout=60):
            pass
        with urlopen(Request(address + "/results/one?wait=60", headers=headers), timeout=120) as answer:
            self.assertEqual(answer.status, 200)
        page = self.begin("ui", address, "--no-browser", env=secret)
        with urlopen(page.stdout.readline().split()[-1] + "api/service", timeout=60) as answer:
            told = json.load(answer)
        self.assertEqual(told["state"], "healthy")
        self.assertEqual(told["queue"]["pending"], 0)
        self.assertEqual(told["workers"]["count"], 2)
        self.assertEqual([one["status"] for one in told["workers"]["shown"]], ["idle", "idle"])
        self.assertEqual(told["finished"]["completed"], 1)
        for name in ("under_way", "submitted", "refused", "retried", "prepared_tasks", "results_kept", "uptime_s",
                     "evaluation_s", "waiting_s"):
            self.assertIsNotNone(told[name], name)


class UiErrorsTest(CommandTest):
    def test_what_cannot_be_shown(self):
        (self.folder / "empty").mkdir()
        self.refused((["ui", "nowhere.run"], ["this is no run folder", "nowhere.run"], "not_found"),
                     (["ui", "empty"], "this is no run folder", "not_found"),
                     (["ui", "http://me:word@127.0.0.1:1"], "not the address of a service", "invalid_argument"))
        self.fail_with(3, "ui", "http://127.0.0.1:1", says=["the service does not answer", "127.0.0.1:1"], code="network")


if __name__ == "__main__":
    unittest.main()
