"""Every budget against every bad day of a model: time, money, iterations and evaluations, where it is slow, limits its rate,
hangs or fails, for a client of servers, a folder that people answer, an agent, and a fleet without workers. A pause that a
budget does not end would outlast the test's patience."""

import sys
import time
import unittest
from pathlib import Path

from model import ModelTest, events, program, reply
from support import finish, wait_for

sys.path.insert(0, str(Path(__file__).parent.parent / "fleet"))
from nats_server import NatsServer  # noqa: E402

PAUSE_S = 500  # longer than the test's patience; a client waits so long if it is asked to
TIME = "the time is used up"
MONEY = "the money is used up"


def slow(number, _):
    time.sleep(0.2)
    return reply(f"```\n{program(*[(number + k) % 7 for k in range(6)])}```\n")


def limits(*_):
    return 429, {"error": {"message": "Rate limit reached", "retry_after": PAUSE_S}}


def hangs(*_):
    return None


def fails(*_):
    return 500, {"error": {"message": "no luck today"}}


def talks(*_):
    return reply("Hello! How can I help you today?")


def garbles(*_):
    return 200, {"choices": [], "usage": {"prompt_tokens": 1000, "completion_tokens": 100}}


class BudgetTest(ModelTest):
    env = {"OPENAI_API_KEY": ""}

    def setUp(self):
        super().setUp()
        self.runs = {}

    def search(self, name, *args):
        self.runs[name] = self.begin("run", "task", "--out", f"{name}.run", "--set", "limits.errors_in_a_row=1", *args)

    def ask(self, name, script, *args):
        """Begins a run whose model is a server that answers as the script says."""
        model = self.serve(script)
        self.search(name, *self.asking(model), "--price-file", "prices.yaml", "--set", "proposer.concurrency=1", *args)
        return model

    def end(self, name, says):
        """What the journal of that run holds at its end, which is in order if a budget is what it says."""
        out, err = finish(self.runs[name])
        journal = events(self.folder / f"{name}.run")
        nobody_answered = "_" in name and not any(event["event"] == "proposal_arrived" and event["ticket"] for event in journal)
        status = 3 if "is used up" not in says else 1 if nobody_answered else 0
        self.assertEqual(self.runs[name].returncode, status, f"{name}\n{out}{err}")
        self.assertIn(says, out + err, name)
        self.assertEqual("no model answered before the budget was used up" in err, status == 1, name)
        return journal

    def test_a_client(self):
        time_s = ["--time", "3s"]
        stubborn = ["--set", "proposer.attempts=1000"]
        hasty = ["--set", "proposer.limits={first_token_s: 0.1, silence_s: 0.1}"]
        cases = {  # name: (script, arguments, what the run says, requests at the least and at the most)
            "slow_time": (slow, time_s, TIME, (0, 1000)),
            "limits_time": (limits, time_s, TIME, (1, 1)),
            "hangs_time": (hangs, [*time_s, "--set", "proposer.limits.silence_s=0.1"], TIME, (1, 1)),
            "fails_time": (fails, [*time_s, *stubborn], TIME, (1, 1000)),
            "slow_money": (slow, ["--max-usd", "0.0065"], MONEY, (3, 3)),
            "hangs_money": (hangs, ["--max-usd", "0.004", *stubborn, *hasty], MONEY, (1, 10)),
            "slow_iterations": (slow, ["--iterations", "2"], "of iterations is used up", (2, 2)),
            "fails_iterations": (fails, ["--iterations", "2", "--set", "proposer.attempts=1"], "no luck today", (1, 1)),
            "hangs_iterations": (hangs, ["--iterations", "2", "--set", "proposer.attempts=1", *hasty], "did not begin to answer", (1, 1)),
            "slow_evaluations": (slow, ["--evaluations", "3"], "of evaluations is used up", (1, 1)),
            "garbles_iterations": (garbles, ["--iterations", "2"], "neither streams nor plain replies", (4, 4)),
            "talks_iterations": (talks, ["--iterations", "1000"], "60 replies in a row gave no program", (60, 60)),
        }
        models = {name: self.ask(name, script, *args) for name, (script, args, _, _) in cases.items()}
        for name, (_, _, says, (least, most)) in cases.items():
            with self.subTest(name):
                self.end(name, says)
                self.assertGreaterEqual(len(models[name].requests), least)
                self.assertLessEqual(len(models[name].requests), most)

    def test_a_folder_that_people_answer(self):
        self.search("time", "--manual", "q", "--time", "1s")
        self.search("iterations", "--manual", "r", "--iterations", "2", "--set", "limits.tunings=0")
        for number in (1, 2):
            asked = self.folder / "r" / f"{number:06}.request.json"
            wait_for(asked.exists, asked)
            fresh = self.folder / "r" / "fresh"
            fresh.write_text(f"```\n{program(number, 1, 1, 1, 1, 1)}```\n")
            fresh.rename(self.folder / "r" / f"{number:06}.reply.txt")
        self.end("time", TIME)
        self.assertEqual(list((self.folder / "q").glob("*.request.json")), [], "nobody waits for them")
        self.end("iterations", "of iterations is used up")
        self.assertEqual(len(list((self.folder / "r" / "answered").glob("*.request.json"))), 2)

    def test_an_agent(self):
        for name, script, budgets in (("hangs", "sleep 1000", "wall_time_s: 1"), ("fails", "sleep 0.1", "wall_time_s: 1"),
                                      ("money", "kernelsmith report --usd 0.5", "usd: 1"), ("talks", "exit 0", "iterations: 3")):
            (self.folder / f"{name}.yaml").write_text(
                f"version: 1\nbudgets: {{{budgets}}}\nsampler: {{opening: 0}}\n"
                f"proposer: {{kind: agent, command: [sh, -c, {script}], parallel: 1, budget: {{usd: 0.5, time_s: 600}}}}\n")
            self.search(name, "--config", f"{name}.yaml")
        self.end("hangs", TIME)
        self.end("fails", TIME)
        started = [event for event in self.end("money", MONEY) if event["event"] == "proposal_arrived"]
        self.assertEqual(len(started), 3, "the seed and two sittings")
        self.end("talks", "of iterations is used up")

    @unittest.skipUnless(NatsServer.installed(), "no nats-server")
    def test_a_fleet_that_loses_its_worker(self):
        with NatsServer() as server:
            worker = self.begin("worker", "--nats", server.url, "--backend", "command", "--ack-wait", "1s")
            for _ in range(2):
                worker.stderr.readline()  # it has joined

            def last(number, body):
                worker.terminate()  # in order: the fleet would remember one that is killed for half a minute
                worker.wait()
                return slow(number, body)

            self.ask("time", last, "--time", "3s", "--set", f"evaluator.fleet={{nats: '{server.url}', wait_for_worker_s: 1}}")
            self.end("time", "no worker")
        self.succeed("resume", "time.run", "--set", "evaluator.fleet.nats=none")
        self.assertGreaterEqual(self.json("show", "time.run")["counts"]["iterations"], 1, "what was paid for is evaluated")


if __name__ == "__main__":
    unittest.main()
