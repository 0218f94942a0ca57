"""Hostile repositories: each module is refused with a code, before anything is executed, and those beside it go on."""

import bz2
import contextlib
import json
import struct
import tarfile
import zipfile

import kernelsmith as ks
import pytest
from kernelsmith.synthesis import filters, pipeline, sandbox, synthesize
from synthesis_hostile import FORGED, HEAD, HIDING, HONEST, PARSING, REFUSED, trees
from synthesis_repositories import MIT, written
from test_synthesis_stages import GOOD, RECORD, FakeBox


@pytest.fixture
def made(monkeypatch, tmp_path):
    """Makes tasks of a folder of repositories without a sandbox. Returns by repository and path the code of each record that
    was refused, and "" for each task."""
    fakes = sandbox.Sandboxes([FakeBox()])
    monkeypatch.setattr(pipeline, "sandboxes", lambda python, count: contextlib.nullcontext(fakes))

    def of(folder):
        synthesize([], tmp_path / "out", each=[folder])
        found = {}
        for stage in sorted((tmp_path / "out").glob("?-*.jsonl")):
            for line in map(json.loads, stage.read_text().splitlines()[1:-1]):
                for one in line["out"]:
                    found[one["repository"], one.get("path", "")] = one.get("refused", "")
        return found

    return of


def test_texts_that_parsers_break_at(made, tmp_path):
    for at, (name, (text, _)) in enumerate(PARSING.items()):
        folder = written(tmp_path / "all" / name, {"honest.py": HEAD + HONEST.replace("self.l(x)", "self.l(x)" + " * 2" * (at + 1))})
        (folder / "m.py").write_bytes(text if isinstance(text, bytes) else text.encode())
    found = made(tmp_path / "all")
    same = {"repeated", "duplicate"}
    wrong = {name: found.get((name, "m.py"), "no_modules") for name, (_, codes) in PARSING.items()
             if found.get((name, "m.py"), "no_modules") not in codes | (same if "" in codes else set())}
    assert not wrong
    assert {name: found[name, "honest.py"] for name in PARSING if found[name, "honest.py"] not in ("", "duplicate")} == {}


def test_ways_around_names_are_refused(made, tmp_path):
    for name, text in HIDING.items():
        written(tmp_path / "all" / name, {"m.py": text})
    found = made(tmp_path / "all")
    assert {name: found[name, "m.py"] for name in HIDING if found[name, "m.py"] not in REFUSED} == {}


def test_trees_without_end_and_out_of_the_folder(made, tmp_path):
    trees(tmp_path / "all")
    found = made(tmp_path / "all")
    assert found["stars", "m.py"] == "unresolved_name" and found["branches", "m.py"] == "import_cycle"
    assert found["licence", "m.py"] == "licence" and found["licence2", "m.py"] == ""
    assert {path for repository, path in found if repository == "names"} == {"m.py"}
    assert all(found[name, "m.py"] in ("", "repeated") for name in ("pipe", "link", "reference", "names"))


def zipped(path, name, data, how=zipfile.ZIP_DEFLATED):
    path.parent.mkdir(exist_ok=True)
    with zipfile.ZipFile(path, "w", how) as archive:
        archive.writestr("r/LICENSE", MIT)
        archive.writestr(name, data)
    return path


def test_archives_that_swell_or_break_are_left_out_and_the_others_go_on(made, tmp_path):
    folder = tmp_path / "all"
    zipped(folder / "honest.zip", "r/m.py", HEAD + HONEST)
    lies = zipped(folder / "lies.zip", "r/m.py", b"#" * (64 << 20))
    lies.write_bytes(lies.read_bytes().replace(struct.pack("<L", 64 << 20), struct.pack("<L", 100)))
    zipped(folder / "bz2.zip", "r/m.py", b"#" * (500 << 10), zipfile.ZIP_BZIP2)
    broken = bytearray(zipped(folder / "broken.zip", "r/m.py", HEAD + HONEST * 50).read_bytes())
    at = broken.index(b"r/m.py") + 6
    broken[at:at + 40] = b"\xff" * 40
    (folder / "broken.zip").write_bytes(broken)
    with tarfile.open(folder / "note.tar", "w", format=tarfile.PAX_FORMAT, pax_headers={"comment": "x" * (2 << 20)}):
        pass
    head = tarfile.TarInfo("r/m.py").tobuf(tarfile.GNU_FORMAT)
    (folder / "negative.tar").write_bytes(head[:124] + b"\xff" * 12 + head[136:] + b"\0" * 1024)
    (folder / "cut.tar.bz2").write_bytes(bz2.compress(b"\0" * 100_000)[:30])
    (folder / "cut.tar.xz").write_bytes(b"\xfd7zXZ\x00" + b"\xff" * 100)
    found = made(folder)
    assert found["honest", "m.py"] == ""
    assert {name for (name, _), code in found.items() if code == "unreadable"} >= {"lies.zip", "broken.zip", "note.tar", "cut.tar.bz2"}
    assert set(found.values()) <= {"", "unreadable", "no_modules"}


def test_a_name_that_cannot_be_printed_is_an_error(tmp_path):
    (tmp_path / "all" / "a\nb").mkdir(parents=True)
    with pytest.raises(ks.Error, match="cannot be printed"):
        synthesize([], tmp_path / "out", each=[tmp_path / "all"])


@pytest.mark.parametrize("change", FORGED, ids=lambda change: next(iter(change)))
def test_a_forged_answer_makes_no_task(change):
    judged = filters.judged(RECORD, {**GOOD, **change})
    assert judged["refused"] == "breaks_sandbox"
    json.dumps(judged, allow_nan=False)


def test_a_batch_is_cut_where_the_backend_takes_no_more(monkeypatch, tmp_path):
    sizes = []

    class Verdict:
        accepted, code, diagnostics = True, "", ""

        def __init__(self, count):
            self.report = {"artifacts": [{"name": f"{at:04}", "text": "{}"} for at in range(count)]}

    def evaluate(folder, files):
        sizes.append(len(files["seed.jsonl"]))
        return Verdict(min(3, files["seed.jsonl"].count("\n")))  # the sandbox's time is over after three

    monkeypatch.setattr(sandbox, "evaluate", evaluate)
    tasks = [{"code": "x" * 60_000}] * 9 + [{"code": "x" * 300_000}, {"code": ""}]
    answers = sandbox.Sandbox(tmp_path, "python3").answers(tasks)
    assert [one.get("refused") for one in answers] == [None] * 9 + ["too_large", None]
    assert max(sizes) <= 256 << 10
