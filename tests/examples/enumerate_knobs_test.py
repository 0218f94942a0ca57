"""scripts/enumerate_knobs.py against a stand-in for `kernelsmith evaluate` whose scores are known."""

import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts/enumerate_knobs.py"

spec = importlib.util.spec_from_file_location("enumerate_knobs", SCRIPT)
enumerate_knobs = importlib.util.module_from_spec(spec)
spec.loader.exec_module(enumerate_knobs)

SEED = """\
// EVOLVE-BLOCK-START
constexpr int kTile = 2;       // @tune 1 2 4
constexpr bool kPack = false;  // @tune false true
// EVOLVE-BLOCK-END
"""

# Speedup is the tile, halved by packing; a packed tile of 4 is rejected. Each call leaves a line in the log.
STAND_IN = """\
#!{python} -SE
import json, re, sys
_, verb, task, *candidates, json_flag, quick_flag = sys.argv
assert (verb, json_flag, quick_flag) == ("evaluate", "--json", "--quick")
status = 0
for candidate in candidates:
    text = open(candidate).read()
    tile = int(re.search(r"kTile = (\\d)", text)[1])
    packed = "kPack = true" in text
    with open({log!r}, "a") as log:
        log.write(f"{{tile}} {{packed}}\\n")
    if packed and tile == 4:
        print(json.dumps({{"accepted": False, "stage": "correctness", "code": "wrong_output", "speedup": None}}))
        status = 1
        continue
    value = tile / 2 if packed else float(tile)
    print(json.dumps({{"accepted": True, "speedup": {{"median": value, "low": value, "high": value}}}}))
sys.exit(status)
"""


class Examples(unittest.TestCase):
    def test_every_seed_has_knobs_that_stand_where_they_were_found(self):
        seeds = sorted(ROOT.glob("examples/*_cpu/seed.cpp"))
        self.assertTrue(seeds)
        for seed in seeds:
            text = seed.read_text()
            knobs = enumerate_knobs.find_knobs(text, seed)
            self.assertGreater(len(knobs), 1)
            current = [text[knob.start : knob.end] for knob in knobs]
            for knob, value in zip(knobs, current):
                self.assertIn(value, knob.values)
            self.assertEqual(enumerate_knobs.with_values(text, knobs, current), text)


class Knobs(unittest.TestCase):
    def test_values_are_set_by_position(self):
        knobs = enumerate_knobs.find_knobs(SEED, "seed.cpp")
        self.assertEqual([knob.name for knob in knobs], ["kTile", "kPack"])
        changed = enumerate_knobs.with_values(SEED, knobs, ("4", "true"))
        self.assertIn("kTile = 4; ", changed)
        self.assertIn("kPack = true; ", changed)

    def test_mistakes_name_their_line(self):
        for text, line in [
            ("int kTile = 3;  // @tune 1 2\n", 1),
            ("\n// @tune 1 2\n", 2),
            ("// EVOLVE-BLOCK-START\n// EVOLVE-BLOCK-END\nint kTile = 1;  // @tune 1 2\n", 3),
        ]:
            with self.assertRaisesRegex(enumerate_knobs.Failure, f"seed.cpp:{line}: "):
                enumerate_knobs.find_knobs(text, "seed.cpp")


class Enumeration(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.task = self.folder / "task"
        self.task.mkdir()
        (self.task / "task.yaml").write_text("version: 1\nfiles: {reference: r.cpp, seed: seed.cpp}\n")
        (self.task / "seed.cpp").write_text(SEED)
        self.log = self.folder / "log"
        self.out = self.folder / "out.jsonl"
        self.command = self.folder / "stand-in"
        self.command.write_text(STAND_IN.format(python=sys.executable, log=str(self.log)))
        self.command.chmod(0o755)

    def enumerate(self, *options, command=None, status=0):
        arguments = [sys.executable, SCRIPT, self.task, "--kernelsmith", command or self.command, "--out", self.out]
        arguments += ["--top", "2", "--rounds", "3", "--json", *options]
        done = subprocess.run(arguments, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return json.loads(done.stdout) if status < 2 else done.stderr

    def calls(self):
        return self.log.read_text().count("\n")

    def test_finds_the_best_and_repeats_the_fastest(self):
        result = self.enumerate()
        self.assertEqual((result["points"], result["accepted"]), (6, 5))
        self.assertEqual(result["best"], {"knobs": {"kTile": "4", "kPack": "false"}, "speedup": 4, "evaluations": 3})
        self.assertEqual((result["at_least_2x"], result["within_10_percent"]), (2, 1))
        self.assertEqual(self.calls(), 6 + 2 * 2)

    def test_continues_where_it_was_interrupted(self):
        self.enumerate()
        lines = self.out.read_text().splitlines(keepends=True)
        self.out.write_text("".join(lines[:4]) + lines[4][:20])
        self.log.unlink()
        self.assertEqual(self.enumerate()["best"]["speedup"], 4)
        self.assertEqual(self.calls(), 6 + 2 * 2 - 4)
        self.enumerate()
        self.assertEqual(self.calls(), 6 + 2 * 2 - 4)

    def test_results_of_another_version_of_the_task_do_not_count(self):
        self.enumerate()
        (self.task / "baseline.cpp").write_text("// slower\n")
        self.enumerate()
        self.assertEqual(self.calls(), 2 * (6 + 2 * 2))

    def test_the_searches_result_is_judged(self):
        self.assertTrue(self.enumerate("--speedup", "3.7")["search"]["within_10_percent"])
        self.assertFalse(self.enumerate("--speedup", "3.5", status=1)["search"]["within_10_percent"])

    def test_a_runs_best_is_evaluated_beside_the_fastest(self):
        best = self.folder / "a.run/best/seed.cpp"
        best.parent.mkdir(parents=True)
        best.write_text(SEED)
        search = self.enumerate("--run", best.parents[1], status=1)["search"]
        self.assertEqual((search["speedup"], search["of_best"]), (2, 0.5))
        self.assertIn("run folder", self.enumerate("--run", self.folder, status=2))

    def test_mistakes_and_broken_machines(self):
        self.assertIn("--kernelsmith", self.enumerate(command=self.folder / "absent", status=3))
        self.assertIn("status 5", self.enumerate(command=self.exits_with(5), status=3))
        self.assertIn("printed 0 objects", self.enumerate(command=self.exits_with(0), status=3))
        self.out.write_text("not a result\n")
        self.assertIn("out.jsonl:1", self.enumerate(status=2))
        (self.task / "task.yaml").unlink()
        self.assertIn("task.yaml", self.enumerate(status=2))

    def exits_with(self, status):
        command = self.folder / f"exits-{status}"
        command.write_text(f"#!/bin/sh\nexit {status}\n")
        command.chmod(0o755)
        return command


if __name__ == "__main__":
    unittest.main()
