"""kernelsmith.report."""

from __future__ import annotations

import re
import shutil
import subprocess
import unicodedata
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("matplotlib", reason="reports need matplotlib: pip install 'kernelsmith-engine[plot]'")

import drawn_runs
import matplotlib.image

import kernelsmith as ks
from kernelsmith import _page, _style, _svg
from kernelsmith._history import History
from kernelsmith.report import _state, report

CHROMIUM = shutil.which("chromium")
CSS = Path(_page.__file__).with_name("_report.css").read_text()
VOID = {"meta", "link", "br", "img", "hr", "input"}


class Page(HTMLParser):
    """The elements, attributes and words of a page; it fails where an element is not closed."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.source = path.read_text(encoding="utf-8")
        self.attributes: list[tuple[str, str, str]] = []
        self.elements: list[str] = []
        self.words = ""
        self._open: list[str] = []
        self.feed(self.source)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open[-1:] != ["style"]:
            self.words += data

    def values(self, name: str) -> list[str]:
        return [value for _, key, value in self.attributes if key == name]


@pytest.fixture(scope="module")
def hill(tmp_path_factory: pytest.TempPathFactory) -> ks.Run:
    return drawn_runs.hill(tmp_path_factory.mktemp("runs") / "hill.run")


@pytest.fixture(scope="module")
def page(hill: ks.Run, tmp_path_factory: pytest.TempPathFactory) -> Page:
    out = tmp_path_factory.mktemp("report") / "hill.html"
    report(hill, out)
    return Page(out)


def page_of(run: ks.Run, tmp_path: Path) -> Page:
    report(run, tmp_path / "report.html")
    return Page(tmp_path / "report.html")


def test_the_head_says_what_was_found(page: Page, hill: ks.Run) -> None:
    best = hill.best
    assert best is not None
    measurement = best.evaluation.measurement
    for says in ("hill.run", f"{best.fitness:.2f}x", f"[{measurement.low:.2f}, {measurement.high:.2f}]",
                 f"program {best.id} (rewrite)", f"{hill.counts['accepted']} accepted",
                 f"{hill.counts['rejected']} rejected", "its budget is used up", "120 iterations", hill.id):
        assert says in page.words, says


def test_the_best_is_shown_as_a_diff_against_the_seed(page: Page, hill: ks.Run) -> None:
    best = hill.best
    assert best is not None
    assert '<span class="removed">-0 0\n</span>' in page.source
    assert f'<span class="added">+{best.source.text.splitlines()[0]}\n</span>' in page.source
    assert '<span class="removed">--- the seed\n</span>' in page.source, "a removed comment is no file's name"


def test_failures_have_their_counts_and_an_example(page: Page, hill: ks.Run) -> None:
    for row in hill.failures():
        assert f"<td>{row['stage']}</td><td>{row['code']}</td><td class=\"number\">{row['count']}</td>" in page.source
    assert "too far up" in page.words
    assert "ValueError" in page.words


def test_foreign_texts_stay_texts(page: Page) -> None:
    assert "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'&lt;" in page.words
    assert set(page.elements).isdisjoint({"script", "img", "iframe", "link", "object", "embed", "form", "base"})
    assert not [name for _, name, _ in page.attributes if name.startswith("on")]
    odd = {one for one in page.source if unicodedata.category(one) in ("Cc", "Cf", "Zl", "Zp") and one not in "\n\t"}
    assert odd == set()
    assert '<span class="odd">U+202E</span>' in page.source
    assert '<span class="odd">U+001B</span>' in page.source


def test_the_page_loads_nothing(page: Page) -> None:
    assert "http:" not in page.source and "https:" not in page.source and "@import" not in page.source
    for name in ("src", "href", "xlink:href", "action"):
        assert all(value.startswith(("#", "data:image/png;base64,")) for value in page.values(name))
    assert all(at.startswith("#") for at in re.findall(r"url\(([^)]*)", page.source))
    assert any("default-src 'none'" in value for value in page.values("content"))


def test_pictures_share_no_identifiers_and_find_their_own(page: Page) -> None:
    assert page.elements.count("svg") == 4
    identifiers = page.values("id")
    assert len(identifiers) == len(set(identifiers))
    used = {value[1:] for value in page.values("href") if value.startswith("#")}
    used |= set(re.findall(r"url\(#([^)]*)\)", page.source))
    assert used <= set(identifiers)
    assert page.source.count("<style") == 1, "a picture's style sheet would be the page's"


def test_both_modes_have_every_colour() -> None:
    light, dark = (set(re.findall(r"(--[a-z]+):", rules)) for rules in re.findall(r":root \{(.*?)\}", CSS, re.DOTALL))
    assert light == dark
    assert set(_svg.VARIABLES.values()) <= light
    assert set(re.findall(r"var\((--[a-z]+)\)", CSS)) <= light
    assert len(_svg.VARIABLES) == len(_style.ORIGINS) + 7, "a colour with two uses cannot be told apart in a picture"


def test_equal_runs_have_equal_reports(page: Page, hill: ks.Run, tmp_path: Path) -> None:
    assert page_of(hill, tmp_path).source == page.source


def test_a_task_that_a_command_scores(tmp_path: Path) -> None:
    page = page_of(drawn_runs.tuned(tmp_path / "a.run"), tmp_path)
    assert "-k0 = 0  # @tune 0 1 2 3 4 5" in page.words
    assert "no </script> 3" in page.words
    assert "measured again at the end" in page.words


def test_cost_and_refusals_of_models(tmp_path: Path) -> None:
    run = drawn_runs.asked(tmp_path / "a.run")
    page = page_of(run, tmp_path)
    assert f"{sum(row['usd'] for row in run.cost()):.3g} USD" in page.words
    assert "m$x^{$" in page.words
    assert "no_code" in page.words and "I would raise them." in page.words
    assert "price unknown" in page_of(drawn_runs.asked(tmp_path / "b.run", priced=False), tmp_path).words


@pytest.mark.parametrize(("make", "says"), [
    (drawn_runs.begun, ["nothing was accepted", "not at its end"]),
    (drawn_runs.rejected, ["nothing was accepted", "its seed was rejected", "ValueError"]),
    (drawn_runs.one_program, ["It is the seed, unchanged.", "5 proposals without a child"]),
])
def test_runs_with_next_to_nothing(make: Any, says: list[str], tmp_path: Path) -> None:
    words = page_of(make(tmp_path / "a.run"), tmp_path).words
    for one in says:
        assert one in words


def test_what_cannot_be_seen_is_shown_as_its_code_point() -> None:
    shown = re.sub("<[^>]*>", "|", _page.text("a\u200bb\udce9c\u2028d\x7f\te\n"))
    assert shown == "a|U+200B|b|U+DCE9|c|U+2028|d|U+007F|\te\n"


def test_a_run_under_way(tmp_path: Path) -> None:
    with ks.Engine(tmp_path / "a.run", seed="0 0", iterations=5) as engine:
        seed = engine.ask()
        assert seed is not None
        engine.tell(seed, 3.0)
        words = page_of(ks.Run.open(tmp_path / "a.run"), tmp_path).words
    assert "under way" in words and "1 accepted" in words


def test_what_ended_the_last_session_is_told() -> None:
    error = {"code": "io", "message": "the bench is on fire", "where": "bench 7", "hint": ""}
    failed = [{"event": "session_started"}, {"event": "session_failed", "error": error}]
    run: Any = SimpleNamespace(ended=None, in_use=False, events=lambda: failed)
    assert _state(History(run)) == ("stopped", "an error ended the last session: bench 7: the bench is on fire (io)")
    resumed: Any = SimpleNamespace(ended=None, in_use=False, events=lambda: [*failed, {"event": "session_started"}])
    assert _state(History(resumed)) == ("not at its end", "it can be resumed")


def test_a_source_that_is_not_utf8(tmp_path: Path) -> None:
    task = drawn_runs.write_task(tmp_path / "task")
    (task / "seed.txt").write_bytes(b"caf\xe9\n" + drawn_runs.SEED.encode())
    ks.run(task, iterations=20, out=tmp_path / "a.run", workers=1)
    page = page_of(ks.Run.open(tmp_path / "a.run"), tmp_path)
    assert page.elements.count("svg") >= 3
    assert "The best program" in page.words


@pytest.mark.parametrize(("before", "after", "lines"), [
    ("a\nb\n", "a\nc\n", [" a", "-b", "+c"]),
    ("a\n", "a", ["-a", "+a", "\\ No newline at end of file"]),
    ("", "\n", ["+"]),
    ("-- a\n", "++ b\n", ["--- a", "+++ b"]),
    ("a\x0cb\u2028c\r\n", "a\n", ["-a\x0cb\u2028c\r", "+a"]),
])
def test_changes_are_told_line_by_line(before: str, after: str, lines: list[str]) -> None:
    found = _page.changes({"f": before}, {"f": after})
    assert found is not None
    assert found[:2] == ["--- a/f", "+++ b/f"]
    assert found[3:] == lines


def test_long_texts_are_cut_and_say_so() -> None:
    assert "1 more line" in _page.listing("x" * 1501)
    assert "4,500 more characters" in _page.listing(["x" * 5000])
    many = "".join(f"{at}\n" for at in range(5001))
    assert _page.changes({"f": many}, {"f": many + "x\n"}) is None
    assert _page.changes({"f": many}, {"f": many}) == []


def test_it_cannot_be_written(hill: ks.Run, tmp_path: Path) -> None:
    with pytest.raises(ks.Error) as raised:
        report(hill, tmp_path / "nowhere" / "a.html")
    assert raised.value.code == "not_found"
    assert raised.value.where.endswith("a.html")


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
def test_a_browser_shows_it_in_light_and_dark(hill: ks.Run, tmp_path: Path) -> None:
    report(hill, tmp_path / "hill.html")
    shown = {}
    for mode, options in (("light", []), ("dark", ["--force-dark-mode"])):
        picture = tmp_path / f"{mode}.png"
        subprocess.run([str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                        f"--user-data-dir={tmp_path / mode}", "--window-size=1200,1600", f"--screenshot={picture}",
                        *options, (tmp_path / "hill.html").as_uri()], check=True, capture_output=True, timeout=240)
        shown[mode] = matplotlib.image.imread(picture)[..., :3]
        assert shown[mode].shape[:2] == (1600, 1200)
    for pixels in shown.values():
        assert pixels[:250].std() > 0.02, "the head has words"
        assert pixels[250:1100].std() > 0.05, "the pictures are drawn"
    assert shown["light"][5, 5].mean() > 0.9
    assert shown["dark"][5, 5].mean() < 0.2
