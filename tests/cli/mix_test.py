"""The proposer `mix`: a scripted model and a scripted agent as arms of one run. tests/session/mix_test.cpp has what its
section of run.yaml may hold."""

import json
import shutil
import signal
import unittest

from model import Model, ModelTest, events, program, reply
from support import wait_for

CALL_USD = 0.002  # of the model: 1000 tokens in, 100 out
SITTING_USD = 0.25

# Sets the candidate's first knob that is not 7 to 7.
SMITH = f"""
sed -i '0,/= [0-6] /s//= 7 /' candidate/seed.txt
kernelsmith submit candidate
kernelsmith report --usd {SITTING_USD} --input-tokens 70 --output-tokens 7
"""


class Scripted(Model):
    """Each new prompt has another program for its answer, and one that comes again the same."""

    def __init__(self, hangs_at=None):
        self.hangs_at = hangs_at  # the place, among all prompts, of one that is not answered
        self.known = {}
        super().__init__(self.reply_to)

    def reply_to(self, _, body):
        place = self.known.setdefault(body["messages"][-1]["content"], len(self.known))
        return None if place == self.hangs_at else reply(f"```\n{program(*[(place + k) % 7 for k in range(6)])}```\n")


class MixTest(ModelTest):
    def setUp(self):
        super().setUp()
        self.tools = self.folder / "tools"
        self.tools.mkdir()
        (self.tools / "smith.sh").write_text(SMITH)
        self.word = ["--set", f"proposer.arms.own.read_only=[{self.tools}]"]

    def serve(self, **script):
        model = Scripted(**script)
        self.addCleanup(model.close)
        return model

    def args(self, model, out, iterations=8):
        arms = {"api": {"kind": "chat", "base_url": model.url, "price_file": "prices.yaml", "models": [{"name": "scripted"}]},
                "own": {"kind": "agent", "name": "smith", "command": ["sh", f"{self.tools}/smith.sh"],
                        "read_only": [str(self.tools)], "budget": {"time_s": 60, "usd": 1}}}
        choices = [{"operator": "rewrite", "model": name} for name in ("scripted", "smith")]
        (self.folder / "config.yaml").write_text(
            f"version: 1\ndeterministic: true\npipeline: 1\nbudgets: {{iterations: {iterations}, usd: 50}}\nsampler: {{opening: 0}}\n"
            f"proposer: {{kind: mix, arms: {json.dumps(arms)}}}\n"
            f"operators: {{choose: bandit, cost: tries, arms: {json.dumps(choices)}}}\n")
        return ["run", "task", "--out", out, "--config", "config.yaml"]

    def state(self, run):
        """What must not depend on when the run was killed, and a replay must find again."""
        shown = self.json("show", run)
        return {"digest": shown["archive"]["digest"], "counts": shown["counts"], "arms": shown["arms"],
                "models": shown["cost"]["models"], "best": shown["best"]["evaluation"]["fitness"]}

    def test_both_are_asked_and_counted_and_the_run_is_repeated_without_them(self):
        model = self.serve()
        done = self.succeed(*self.args(model, "a.run"))
        self.assertIn(f"api: models are asked at {model.url}", done.stderr)
        self.assertIn("own: runs sh ", done.stderr)
        self.assertIn(f"--set 'proposer.arms.own.read_only=[{self.tools}]'", done.stdout)
        state = self.state("a.run")
        of = {row["model"]: row for row in state["models"]}
        self.assertEqual(set(of), {"scripted", "smith"})
        self.assertEqual(of["scripted"]["calls"], len(model.requests))
        self.assertEqual(of["scripted"]["calls"] + of["smith"]["calls"], 8)
        self.assertAlmostEqual(of["scripted"]["usd"], len(model.requests) * CALL_USD)
        self.assertAlmostEqual(of["smith"]["usd"], of["smith"]["calls"] * SITTING_USD)
        told = [event["proposal"]["cost"]["model"] for event in events(self.folder / "a.run")
                if event["event"] == "proposal_arrived" and event["ticket"] > 0]
        self.assertEqual({name: told.count(name) for name in of}, {name: row["calls"] for name, row in of.items()})
        tries = {}
        for arm in state["arms"]:
            tries[arm["model"]] = tries.get(arm["model"], 0) + arm["tries"]
        self.assertEqual(tries, {name: row["calls"] for name, row in of.items()})
        self.assertIn("smith", self.succeed("show", "a.run").stdout)

        asked = len(model.requests)
        shutil.rmtree(self.tools)
        self.succeed("replay", "a.run", "--out", "b.run", "--keep-evaluations")
        self.assertEqual(self.state("b.run"), state)
        self.assertEqual(len(model.requests), asked)

    def test_a_run_that_was_killed_ends_as_if_it_had_not_been(self):
        self.succeed(*self.args(self.serve(), "whole.run"))
        model = self.serve(hangs_at=2)
        process = self.begin(*self.args(model, "killed.run"))
        wait_for(lambda: len(model.known) > 2, "the third call")
        process.send_signal(signal.SIGKILL)
        process.wait()
        model.hangs_at = None
        self.fail_with(2, "resume", "killed.run", says=["sees more than its workspace", "proposer.arms.own.read_only="])
        self.succeed("resume", "killed.run", *self.word)
        whole, killed = self.state("whole.run"), self.state("killed.run")
        self.assertEqual(killed, whole)

    def test_a_dry_run_asks_neither(self):
        model = self.serve()
        done = self.succeed(*self.args(model, "a.run", iterations=80)[:2], "--dry-run", "--config", "config.yaml")
        self.assertRegex(done.stdout, r"ok +proposer \(api\)")
        self.assertRegex(done.stdout, r"ok +proposer \(own\)")
        self.assertIn("smith: an agent, which reports what it costs; at most about 1.0000 USD", done.stdout)
        self.assertRegex(done.stdout, r"scripted: about \d+ tokens in")
        self.assertRegex(done.stdout, r"about 80 calls and 40\.\d+ USD")
        self.assertEqual(model.requests, [])
        self.assertFalse((self.folder / "a.run").exists())


if __name__ == "__main__":
    unittest.main()
