"""The proposer `agent` of run.yaml: scripted agents, resumed after kills, and replayed. tests/agent has what they may do.

KERNELSMITH_KILLS=100 for the long form of the kills.
"""

import json
import os
import random
import time
import unittest
from pathlib import Path

from support import CommandTest, kernelsmith, start, wait_for, write_task

KILLS = int(os.environ.get("KERNELSMITH_KILLS", "4"))

# Steps up one knob after another from the candidate's values, and leaves the best as its answer.
CLIMB = """
knob=$(( $(cat programs/*/role.txt | wc -l) % 6 ))
for value in 1 2 3; do
  sed "s/k$knob = [0-7]/k$knob = $value/" candidate/seed.txt > try.txt
  kernelsmith evaluate try.txt || true
done
kernelsmith report --usd 0.25 --input-tokens 1000 --output-tokens 100
echo "I climbed knob $knob."
"""

class AgentTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.task = write_task(self.folder / "task")

    def config(self, script, budgets="iterations: 1", **proposer):
        proposer = {"kind": "agent", "command": ["sh", "-c", script], "budget": {"time_s": 60, "evaluations": 5}, **proposer}
        file = self.folder / "config.yaml"
        file.write_text(f"version: 1\nbudgets: {{{budgets}}}\nlimits: {{confirm: false, errors_in_a_row: 1}}\nproposer: {json.dumps(proposer)}\n")
        return file

    def run_agent(self, script, budgets="iterations: 1", **proposer):
        self.succeed("run", self.task, "--out", "a.run", "--config", self.config(script, budgets, **proposer))
        return self.events("a.run")

    def events(self, run):
        lines = kernelsmith("export", run, cwd=self.folder).stdout.splitlines()
        return [json.loads(line) for line in lines]

    def journal(self, run="a.run"):
        """The journal's own events."""
        import sqlite3

        rows = sqlite3.connect(f"file:{self.folder / run}/run.db?mode=ro", uri=True).execute(
            "SELECT body FROM events ORDER BY position").fetchall()
        return [json.loads(row[0]) for row in rows]

    def answer(self, ticket=1):
        return next(event["proposal"] for event in self.journal()
                    if event["event"] == "proposal_arrived" and event["ticket"] == ticket)

    def test_programs_on_the_way_are_the_tickets_and_the_best_is_the_answer(self):
        self.run_agent(CLIMB, "iterations: 2")
        shown = self.json("show", "a.run")
        self.assertEqual(shown["counts"]["evaluations"], 7)
        self.assertEqual(shown["counts"]["iterations"], 2)
        self.assertEqual(shown["best"]["evaluation"]["metrics"]["fitness"]["median"], 6)
        opened = [event for event in self.journal() if event["event"] == "ticket_opened"]
        self.assertEqual([event.get("within") for event in opened], [None, None, 1, 1, 1, None, 5, 5, 5])
        answer = self.answer()
        self.assertEqual(answer["cost"]["usd"], 0.25)
        self.assertEqual(len(answer["transcript"]), 64)
        self.assertIn("I climbed knob", answer["reply"]["text"])
        self.assertIn("accepted, fitness 3", answer["reply"]["text"])
        replayed = self.json("replay", "a.run", "--out", "b.run", "--keep-evaluations")
        self.assertEqual(replayed["digest"], shown["digest"])

    def test_errors_are_clear(self):
        for proposer, words in (({"command": ["no-such-agent"]}, "not in PATH"), ({"command": []}, "no command is named"),
                                ({"environment": ["NO_SUCH_VARIABLE"]}, "$NO_SUCH_VARIABLE"), ({"read_only": ["x"]}, "absolute")):
            done = kernelsmith("run", self.task, "--out", "a.run", "--config", self.config("true", **proposer), cwd=self.folder)
            self.assertIn(words, done.stderr)
            self.assertEqual(done.stderr.count("error: "), 1, done.stderr)
        done = kernelsmith("run", self.task, "--out", "b.run", "--config", self.config("echo no key >&2; exit 3"), cwd=self.folder)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("no key", done.stderr)

    def test_a_stranger_s_run_is_not_let_out_of_its_sandbox(self):
        self.run_agent(CLIMB, network=True)
        done = kernelsmith("resume", "a.run", "--iterations", "2", cwd=self.folder)
        self.assertIn("sees more than its workspace", done.stderr)
        self.succeed("resume", "a.run", "--iterations", "2", "--set", "proposer.network=true")

    def test_kills_of_the_engine_lose_and_double_nothing(self):
        self.succeed("run", self.task, "--out", "a.run", "--config", self.config(CLIMB, "iterations: 1", parallel=2))
        rng, before = random.Random(49), {}
        for kill in range(KILLS):
            process = start("resume", "a.run", "--iterations", "1000", cwd=self.folder)
            process.stderr.readline()
            time.sleep(rng.uniform(0.1, 1.2))
            process.kill()
            process.communicate()
            wait_for(lambda: not [one for one in Path("/proc").glob("[0-9]*") if self.is_agent(one)], "the agents' end")
            told = {}
            for event in self.journal():
                if event["event"] == "evaluation_arrived":
                    self.assertNotIn(event["ticket"], told, kill)
                    told[event["ticket"]] = event
            self.assertEqual(before, {ticket: told.get(ticket) for ticket in before}, kill)
            before = told
        shown = self.json("show", "a.run")
        evaluated = [event for event in before.values() if event["source"] == "evaluated"]
        self.assertEqual(shown["counts"]["evaluations"], len(evaluated))
        replayed = self.json("replay", "a.run", "--out", "b.run", "--keep-evaluations")
        self.assertEqual(replayed["digest"], shown["digest"])

    @staticmethod
    def is_agent(folder):
        try:
            return b"I climbed knob" in (folder / "cmdline").read_bytes()
        except OSError:
            return False


if __name__ == "__main__":
    unittest.main()
