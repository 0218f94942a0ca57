"""The proposer `agent` of run.yaml: scripted agents, resumed after kills, and replayed. tests/agent has what they may do.

KERNELSMITH_KILLS=100 for the long form of the kills.
"""

import contextlib
import hashlib
import json
import os
import random
import sqlite3
import sys
import time
import unittest
from pathlib import Path

from support import TaskTest, wait_for

KILLS = int(os.environ.get("KERNELSMITH_KILLS", "4"))

# Steps up the first knob of the candidate's that is 0, and leaves the best as its answer.
CLIMB = """
knob=$(( 6 - $(grep -c '= 0 ' candidate/seed.txt) ))
for value in 1 2 3; do
  sed "s/k$knob = [0-7]/k$knob = $value/" candidate/seed.txt > try.txt
  kernelsmith evaluate try.txt || true
done
kernelsmith report --usd 0.25 --input-tokens 1000 --output-tokens 100
cat HISTORY.md
echo "I climbed knob $knob."
"""

# Three programs of 262,144.
WANDER = """
for trial in 1 2 3; do
  cp candidate/seed.txt try.txt
  for knob in $(od -An -N2 -t u1 /dev/urandom); do
    sed -i "s/k$(( knob % 6 )) = [0-7]/k$(( knob % 6 )) = $(( knob / 6 % 8 ))/" try.txt
  done
  kernelsmith evaluate try.txt || true
done
echo "I wandered."
"""


class AgentTest(TaskTest):
    def config(self, script, budgets="iterations: 1", **proposer):
        proposer = {"kind": "agent", "command": ["sh", "-c", script], "budget": {"time_s": 60, "evaluations": 5}, **proposer}
        file = self.folder / "config.yaml"
        file.write_text(f"version: 1\nbudgets: {{{budgets}}}\nlimits: {{confirm: false, errors_in_a_row: 1}}\n"
                        f"sampler: {{opening: 0}}\nproposer: {json.dumps(proposer)}\n")
        return file

    def run_agent(self, script, budgets="iterations: 1", **proposer):
        self.succeed("run", "task", "--out", "a.run", "--config", self.config(script, budgets, **proposer))

    def journal(self):
        """The journal's own events, of an intact database."""
        self.assertEqual(self.rows("PRAGMA integrity_check"), [("ok",)])
        return [json.loads(body) for body, in self.rows("SELECT body FROM events ORDER BY position")]

    def rows(self, query):
        with contextlib.closing(sqlite3.connect(f"file:{self.folder}/a.run/run.db?mode=ro", uri=True)) as database:
            return database.execute(query).fetchall()

    def replay(self, view):
        """A new run that follows the journal without starting an agent, with what came of it."""
        self.succeed("replay", "a.run", "--out", "b.run", "--keep-evaluations")
        again = self.json("show", "b.run")
        self.assertEqual(again["archive"]["digest"], view["archive"]["digest"])
        self.assertEqual(again["counts"], view["counts"])

    def test_programs_on_the_way_are_the_tickets_and_the_best_is_the_answer(self):
        self.run_agent(CLIMB, "iterations: 2")
        shown = self.json("show", "a.run")
        self.assertEqual(shown["counts"]["evaluations"], 7)
        self.assertEqual(shown["counts"]["iterations"], 2)
        self.assertEqual(shown["best"]["evaluation"]["fitness"], 6)
        opened = [event for event in self.journal() if event["event"] == "ticket_opened"]
        self.assertEqual([event.get("within") for event in opened], [None, None, 1, 1, 1, None, 5, 5, 5])
        answer = next(event["proposal"] for event in self.journal()
                      if event["event"] == "proposal_arrived" and event["ticket"] == 1)
        self.assertEqual(answer["cost"]["usd"], 0.25)
        transcript, second = (json.loads(text)["text"] for text, in self.rows(
            "SELECT text FROM artifacts WHERE name = 'reply.json' ORDER BY program"))
        self.assertEqual(answer["transcript"], hashlib.sha256(transcript.encode()).hexdigest())
        self.assertIn("I climbed knob 0", transcript)
        self.assertIn("accepted, fitness 3", transcript)
        self.assertIn("4: 3 (3 to 3), rewrite from 0\n3: 2 (2 to 2), rewrite from 0\n", second)
        self.replay(shown)

    def test_errors_are_clear(self):
        for proposer, words in (({"command": ["no-such-agent"]}, "not in PATH"), ({"command": []}, "'proposer.command' is empty"),
                                ({"environment": ["NO_SUCH_VARIABLE"]}, "$NO_SUCH_VARIABLE"), ({"read_only": ["x"]}, "absolute")):
            self.refused((["run", "task", "--out", "a.run", "--config", self.config("true", **proposer)], words))
        failed = self.ends(3, "run", "task", "--out", "b.run", "--config", self.config("echo no key >&2; exit 3"))
        self.assertIn("no key", failed.stderr)

    def test_a_stranger_s_run_is_not_let_out_of_its_sandbox(self):
        self.run_agent(CLIMB, network=True)
        self.fail_with(2, "resume", "a.run", "--iterations", "2", says=["sees more than its workspace"])
        self.assertEqual(self.json("show", "a.run")["goes_on"], "kernelsmith resume a.run --set proposer.network=true")
        self.succeed("resume", "a.run", "--iterations", "2", "--set", "proposer.network=true")

    def test_kills_of_the_engine_lose_and_double_nothing(self):
        self.succeed("run", "task", "--out", "a.run", "--config", self.config(f"{WANDER}# {self.folder.name}", "iterations: 1", parallel=2))
        rng, before = random.Random(49), {}
        for kill in range(KILLS):
            process = self.begin("resume", "a.run", "--iterations", "1000")
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
        self.replay(shown)
        print(f"{KILLS} kills, {len(evaluated)} evaluations, {shown['counts']['iterations']} requests answered", file=sys.stderr)

    def is_agent(self, process):
        """Whether the agent of this test, and not of another run of it, is that process."""
        try:
            return self.folder.name.encode() in (process / "cmdline").read_bytes()
        except OSError:
            return False


if __name__ == "__main__":
    unittest.main()
