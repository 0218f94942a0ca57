"""`kernelsmith report`: the page in one file, as text and in a browser that opens it from the disk."""

import base64
import hashlib
import json
import re
import sys
import tempfile
import unittest
from html.parser import HTMLParser
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cli"))

from chromium import CHROMIUM, Browser
from support import SEED, CommandTest, kernelsmith, write_task
from ui_page_test import HOSTILE, HOSTILE_SCORE, HOSTILE_SEED

VOID = {"meta", "link"}


class Html(HTMLParser):
    """The elements of a report with their attributes and texts; it fails if one is not closed."""

    def __init__(self, path):
        super().__init__()
        self.elements = []
        self._open = []
        self.feed(path.read_text("utf-8"))
        self.close()
        if self._open:
            raise AssertionError(f"not closed: {self._open}")

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs), []))
        if tag not in VOID:
            self._open.append(self.elements[-1])

    def handle_endtag(self, tag):
        if self._open.pop()[0] != tag:
            raise AssertionError(f"closed too early: {tag}")

    def handle_data(self, data):
        if self._open:
            self._open[-1][2].append(data)

    def texts(self, tag, **attributes):
        return ["".join(texts) for name, attrs, texts in self.elements
                if name == tag and attributes.items() <= attrs.items()]


class ReportTest(CommandTest):
    def run_of(self, seed=HOSTILE_SEED, iterations=80):
        write_task(self.folder / "task", seed_txt=seed, score_sh=HOSTILE_SCORE)
        self.succeed("run", "task", "--iterations", iterations, "--out", "a.run", "--workers", "1")
        return self.json("show", "a.run")

    def report(self):
        self.succeed("report", "a.run", "-o", "a.html")
        return self.folder / "a.html"

    def data_of(self, path):
        return json.loads(Html(path).texts("script", id="data")[0])

    def browser(self):
        profile = tempfile.TemporaryDirectory(prefix="kernelsmith-test-", ignore_cleanup_errors=True)
        self.addCleanup(profile.cleanup)
        return Browser(profile.name)

    def test_foreign_texts_stay_texts_and_nothing_but_the_pages_own_script_is_loaded(self):
        shown = self.run_of()
        report = self.report()
        page = Html(report)
        self.check_texts(page)
        self.check_policy(page)
        self.check_data(shown)
        if CHROMIUM is None:
            self.skipTest("chromium is not installed: the report was read, and not shown")
        self.check_in_a_browser(shown, report)

    def check_texts(self, page):
        self.assertEqual([attrs.get("type") for tag, attrs, _ in page.elements if tag == "script"],
                         ["application/json", "module"])
        self.assertTrue({tag for tag, _, _ in page.elements} <= {
            "html", "head", "meta", "title", "link", "style", "script", "body", "main", "header", "h1", "p", "div",
            "noscript", "footer", "dialog"})
        for tag, attributes, _ in page.elements:
            for name, value in attributes.items():
                self.assertFalse(name.startswith("on") or name == "style", (tag, name))
                if name in ("src", "href", "action"):
                    self.assertEqual(value, "data:,")
        [data] = page.texts("script", id="data")
        self.assertNotIn("<", data)
        self.assertTrue(data.isascii())
        self.assertIn(HOSTILE, json.loads(data)["programs"]["0"]["files"][0]["text"])

    def check_policy(self, page):
        [policy] = [attrs["content"] for tag, attrs, _ in page.elements
                    if tag == "meta" and attrs.get("http-equiv") == "Content-Security-Policy"]

        def source(text):
            return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

        [script], [sheet] = page.texts("script", type="module"), page.texts("style")
        self.assertEqual(policy, f"default-src 'none'; script-src {source(script)}; style-src {source(sheet)}; "
                                 "img-src data:; base-uri 'none'; form-action 'none'")
        self.assertNotRegex(script, r"(?m)^(import|export)\b")
        names = re.findall(r"(?m)^(?:async )?(?:function|const|let|class) (\w+)", script)
        self.assertEqual(len(names), len(set(names)), "modules that are one have no name in common")
        self.assertNotIn("@import", sheet)
        self.assertNotIn("url(", sheet)

    def test_both_modes_have_every_colour(self):
        sheet = (Path(__file__).parents[2] / "service/ui/page/page.css").read_text()
        light, dark = (set(re.findall(r"(--[a-z]+):", rules)) for rules in re.findall(r":root \{(.*?)\}", sheet, re.DOTALL))
        self.assertEqual(light, dark)
        self.assertLessEqual(set(re.findall(r"var\((--[a-z]+)\)", sheet)), light)

    def check_data(self, shown):
        """It holds the run, and no path of this machine."""
        data = self.data_of(self.folder / "a.html")
        for key in ("run", "counts", "lineage", "budgets", "cost"):
            self.assertEqual(data["run"][key], shown[key])
        self.assertEqual(data["run"]["best"]["program"], shown["best"]["program"])
        self.assertEqual(data["run"]["name"], "a.run")
        self.assertNotIn(str(self.folder), json.dumps(data["run"]["best"]))
        self.assertIn("--- a/seed.txt", data["run"]["best"]["diff"])
        self.assertEqual(len(data["programs"]), shown["counts"]["accepted"] + sum(
            1 for failure in shown["failures"] if failure["latest"]))
        again = self.folder / "b.html"
        self.succeed("report", "a.run", "--out", again)
        self.assertEqual(again.read_bytes(), (self.folder / "a.html").read_bytes())

    def test_programs_have_a_limit_and_the_best_is_among_them(self):
        shown = self.run_of(seed=SEED + "# " + "x" * 200_000 + "\n", iterations=40)
        report = self.report()
        programs = self.data_of(report)["programs"]
        self.assertLess(report.stat().st_size, 5_000_000)
        self.assertIn(str(shown["best"]["program"]), programs)
        self.assertLess(len(programs), shown["counts"]["accepted"])

    def test_what_it_says(self):
        self.run_of(iterations=5)
        self.assertEqual(self.succeed("report", "a.run/").stdout, "the report is in a.run.html\n")
        self.assertTrue((self.folder / "a.run.html").exists())
        self.assertEqual(self.json("report", "a.run", "-o", "b.html"), {"file": "b.html"})
        self.fail_with(2, "report", "nowhere", says=["this is no run folder: it does not exist"], code="not_found")
        self.fail_with(2, "report", "a.run", "-o", "no/a.html", says=["no/a.html", "a folder that exists"], code="not_found")
        self.fail_with(2, "report", "a.run", "-o", ".", says=["cannot be written", "name a file"], code="invalid_argument")

    def check_in_a_browser(self, shown, report):
        with self.browser() as browser:
            browser.open(report.as_uri())
            browser.until("document.querySelector('#part-best pre')")
            words = browser.value("document.body.innerText")
            for says in ("a.run", "ended (its budget is used up: iterations)", "80 of 80 iterations",
                         f"program {shown['best']['program']}", f"{shown['counts']['accepted']} accepted",
                         "measured again at the end", "alert(2)", "U+202E", "U+001B", "command_failed", "How it came about",
                         "Against the seed", shown["archive"]["digest"][:16], "wrote this page"):
                self.assertIn(says, words)
            self.assertEqual(browser.value("document.querySelectorAll('figure svg').length"), 3)
            self.assertEqual(browser.value("document.querySelectorAll('#part-lineage details').length"),
                             len(shown["lineage"]) - 1)
            browser.value("document.querySelector('#part-failures [data-program]').click()")
            browser.until("document.querySelector('dialog[open] pre.code')")
            self.assertIn("Rejected: run, command_failed", browser.value("document.querySelector('dialog').innerText"))
            light = browser.value("getComputedStyle(document.body).backgroundColor")
            browser.mode("dark")
            self.assertNotEqual(browser.value("getComputedStyle(document.body).backgroundColor"), light)
            self.assertEqual((browser.told, browser.dialogs), ([], []))
            self.assertEqual(browser.value("document.querySelectorAll('script, img, iframe, object').length"), 2)

    @unittest.skipIf(CHROMIUM is None, "chromium is not installed")
    def test_a_browser_shows_runs_with_next_to_nothing(self):
        write_task(self.folder / "task", score_sh="exit 7\n")
        kernelsmith("run", "task", "--iterations", "5", "--out", "a.run", cwd=self.folder)
        report = self.report()
        with self.browser() as browser:
            browser.open(report.as_uri())
            browser.until("document.querySelector('#part-cards')")
            words = browser.value("document.body.innerText")
            for says in ("the task is not usable: its seed was rejected", "nothing was accepted", "command_failed"):
                self.assertIn(says, words)
            self.assertEqual(browser.told, [])


if __name__ == "__main__":
    unittest.main()
