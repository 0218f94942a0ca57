"""Money as a budget: what calls cost is counted, warned of, shown and kept over resumes, and ends the run in time."""

import shutil
import signal
import socket
import threading
import unittest

from model import ModelTest, events, program, reply
from support import kernelsmith, wait_for

# 1000 tokens in, 100 out.
CALL_USD = 0.001 + 0.001
UNTOLD = (200, {"choices": reply("nothing of use")[1]["choices"]})  # a reply without its usage


def answers(count):
    """Each another program, none better than the last."""
    digits = [[(n >> 3 * k) % 8 for k in range(6)] for n in range(1, count + 1)]
    return [reply(f"```\n{program(*row)}```\n") for row in digits]


class MoneyTest(ModelTest):
    def args(self, model, *args):
        return ["run", "task", "--out", "it.run", "--workers", "1", *self.asking(model), "--price-file", "prices.yaml", *args]

    def run_with(self, model, *args, status=0):
        return self.ends(status, *self.args(model, *args))

    def test_the_run_ends_before_the_limit_is_passed(self):
        model = self.serve(answers(50))
        done = self.run_with(model, "--max-usd", "0.0101")
        self.assertEqual(len(model.requests), 5)
        self.assertIn("the money is used up", done.stdout)
        self.assertIn("0.0100 of 0.0101 USD: 5 calls, 5000 tokens in, 500 out", done.stdout)
        self.assertIn("--max-usd 0.0202", done.stdout, "it says how to go on")
        warnings = [line for line in done.stderr.splitlines() if line.startswith("warning:")]
        self.assertEqual(len(warnings), 2, done.stderr)
        self.assertIn("0.006 of 0.0101 USD", warnings[0])
        shown = self.json("show", "it.run")
        self.assertEqual(shown["ended"], "budget")
        self.assertEqual(shown["used_up"], "money")
        self.assertAlmostEqual(shown["budgets"]["usd"]["used"], 5 * CALL_USD)
        self.assertEqual(shown["budgets"]["usd"]["limit"], 0.0101)
        [row] = shown["cost"]["models"]
        self.assertEqual((row["model"], row["calls"], row["input_tokens"], row["output_tokens"]),
                         ("scripted", 5, 5000, 500))
        self.assertAlmostEqual(row["usd"], 5 * CALL_USD)
        self.assertEqual((row["untold_calls"], row["unpriced_calls"]), (0, 0))
        text = self.succeed("show", "it.run").stdout
        self.assertIn("ended (budget: money)", text)
        self.assertIn("scripted: 5 calls, 5000 tokens in, 500 out, 0.0100 USD", text)

    def test_a_first_call_that_the_budget_does_not_cover_is_not_made(self):
        model = self.serve(answers(3))
        done = self.run_with(model, "--max-usd", "0.0001")
        self.assertEqual(model.requests, [], "the prompt alone costs more")
        self.assertRegex(done.stdout, r"the next call may cost 0\.\d+ USD, but only 0\.0001 USD of 0\.0001 USD are left")
        self.assertIn("state     ended (budget: money)", self.succeed("show", "it.run").stdout)
        total = float(done.stdout.split("--max-usd ")[1].split()[0])
        self.assertGreater(total, 0.0005)
        shutil.rmtree(self.folder / "it.run")
        self.run_with(model, "--max-usd", "0.1", "--set",
                      "proposer.models=[{name: scripted, max_output_tokens: 20000}]")
        self.assertEqual(model.requests, [], "the reply may")

    def test_each_resume_asks_only_what_the_budget_covers(self):
        model = self.serve([*answers(1), (200, {"choices": [], "usage": answers(1)[0][1]["usage"]})])
        ends = ["--set", "proposer.attempts=1", "--set", "limits.errors_in_a_row=1"]
        self.run_with(model, "--max-usd", "0.0071", *ends, status=3)
        for _ in range(4):
            kernelsmith("resume", "it.run", **self.options({}))
        self.assertLessEqual(len(model.requests) * CALL_USD, 0.0071)
        self.assertEqual(self.json("show", "it.run")["used_up"], "money")

    def test_a_budget_of_calls_counts_repairs(self):
        script = [*answers(1), reply("```\nk0 = oops\n```"), *answers(9)]
        model = self.serve(script)
        self.succeed("run", "task", "--out", "it.run", *self.asking(model), "--calls", 4, "--workers", 1)
        self.assertEqual(len(model.requests), 4)
        shown = self.json("show", "it.run")
        self.assertEqual((shown["used_up"], shown["budgets"]["calls"], shown["counts"]["iterations"] + shown["counts"]["repairs"]),
                         ("calls", {"used": 4, "limit": 4}, 4))
        self.assertIn("4 of 4 calls", self.succeed("show", "it.run").stdout)
        self.fail_with(2, "resume", "it.run", "--calls", 3, says=["--calls", "larger already"])
        self.assertIn("resume it.run --calls 12", self.succeed("resume", "it.run", "--calls", 6).stdout)
        self.assertEqual(len(model.requests), 6)

    def test_a_replay_that_goes_on_live_needs_prices_too(self):
        self.succeed("run", "task", "--out", "it.run", *self.asking(self.serve(answers(30))), "--iterations", 2)
        self.succeed("replay", "it.run", "--keep-evaluations", "--live", "--out", "b.run")
        self.refused((["resume", "b.run", "--iterations", 9, "--max-usd", 0.5], "has no price"))

    def test_what_a_proxy_keeps_back_costs_nothing(self):
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)

        def serve():
            while True:
                try:
                    connection = listener.accept()[0]
                except OSError:
                    return
                asked = connection.recv(65536)
                tunnel = b"open" in asked.split(b"\r\n")[0]
                connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n" if tunnel else
                                   b"HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n")
                try:
                    connection.recv(4096)  # the handshake, or the end
                except OSError:
                    pass
                connection.close()

        threading.Thread(target=serve, daemon=True).start()
        env = {"HTTPS_PROXY": f"http://127.0.0.1:{listener.getsockname()[1]}", "NO_PROXY": ""}
        for host in ("open.invalid", "shut.invalid"):
            done = self.ends(3, "run", "task", "--out", host, "--model", "scripted", "--base-url", f"https://{host}/v1",
                             "--price-file", "prices.yaml", "--iterations", 2, "--set", "proposer.attempts=1", "--set",
                             "limits.errors_in_a_row=1", env=env)
            self.assertIn("(network)", done.stderr)
            self.assertNotIn("cost ", done.stdout, "no request went out")
        self.assertIn("the proxy opens no tunnel to the server", done.stderr)

    def test_resume_goes_on_from_what_was_spent(self):
        model = self.serve(answers(50))
        self.run_with(model, "--max-usd", "0.004")
        self.assertEqual(len(model.requests), 2)
        self.fail_with(2, "resume", "it.run", "--max-usd", "0.003", says=["--max-usd", "larger already"])
        for total in ("0.004", "0.01"):
            self.succeed("resume", "it.run", "--max-usd", total)
        self.assertEqual(len(model.requests), 5)
        self.assertAlmostEqual(self.json("show", "it.run")["cost"]["usd"], 5 * CALL_USD)

    def test_a_killed_run_loses_and_doubles_nothing(self):
        model = self.serve([*answers(6), None])  # the last one hangs
        process = self.begin(*self.args(model, "--max-usd", "0.02"))
        wait_for(lambda: len(model.requests) >= 7 or process.poll() is not None, "seven calls")
        self.assertTrue(self.json("show", "it.run")["in_use"])
        process.send_signal(signal.SIGKILL)
        process.wait()
        self.assertGreaterEqual(len(model.requests), 7)
        told = [e["proposal"]["cost"] for e in events(self.folder / "it.run") if e["event"] == "proposal_arrived"]
        shown = self.json("show", "it.run")
        self.assertGreaterEqual(shown["cost"]["interrupted_calls"], 1, "the one that hung")
        self.assertFalse(shown["in_use"])
        self.assertIn("under way when", self.succeed("show", "it.run").stdout)
        self.assertAlmostEqual(shown["cost"]["usd"], sum(cost["usd"] for cost in told))
        self.assertGreaterEqual(shown["cost"]["calls"], 1)
        model.script[:] = answers(60)
        self.succeed("resume", "it.run")
        again = self.json("show", "it.run")
        self.assertAlmostEqual(again["cost"]["usd"], 10 * CALL_USD)
        self.assertGreaterEqual(again["cost"]["interrupted_calls"], 1)
        self.assertIn("under way when the process was killed", self.succeed("show", "it.run").stdout)

    def test_failed_attempts_are_bound_by_the_limit_and_in_the_journal_at_once(self):
        lost = (200, {"choices": [], "usage": answers(1)[0][1]["usage"]})
        model = self.serve([answers(1)[0], *[lost] * 50])
        done = self.run_with(model, "--max-usd", "0.0101")
        self.assertIn("the money is used up", done.stdout)
        self.assertLessEqual(len(model.requests), 6, "five are covered; one may go out while the fifth is counted")
        failed = [event for event in events(self.folder / "it.run") if event["event"] == "call_failed"]
        self.assertTrue(all(event["cost"]["calls"] == 1 for event in failed if event["cost"].get("calls")))
        self.assertTrue(any(event.get("goes_on") for event in failed))

    def test_without_a_price_there_is_no_budget_of_money(self):
        model = self.serve(answers(1))
        (self.folder / "other.yaml").write_text("version: 1\nprices: [{model: other, input: 1, output: 1}]\n")
        asks = ["run", "task", *self.asking(model), "--max-usd", 1]
        self.refused((asks, ["scripted", "no price", "--price-file"]),
                     ([*asks, "--price-file", "other.yaml"], ["no price", "other.yaml", "add an entry"]),
                     (["run", "task", "--max-usd", 1], ["the tuner costs no money", "--model"]),
                     (["run", "task", "--max-usd", "much"], ["--max-usd", "must be a number", "found 'much'"]),
                     (["run", "task", "--set", "budgets.usd=-1"], "budgets.usd"))
        self.assertEqual(model.requests, [])
        self.assertFalse(list(self.folder.glob("*.run")), "nothing is left behind")

    def test_what_is_unknown_is_said_and_not_zero(self):
        model = self.serve([UNTOLD])
        done = self.succeed("run", "task", "--out", "it.run", *self.asking(model), "--workers", 1, "--iterations", 3)
        self.assertIn("cost     price unknown: 3 calls", done.stdout)
        cost = self.json("show", "it.run")["cost"]
        self.assertIsNone(cost["usd"])
        self.assertEqual((cost["untold_calls"], cost["unpriced_calls"]), (3, 3))
        text = self.succeed("show", "it.run").stdout
        for says in ("cost      price unknown\n", "3 calls to models without a price", "3 calls whose tokens the server did not report"):
            self.assertIn(says, text)
        self.assertNotIn("0.0000 USD", done.stdout + done.stderr)

    def test_a_server_that_tells_no_usage_does_not_escape_the_budget(self):
        for name, answer in (("none", UNTOLD), ("empty", (200, {**answers(1)[0][1], "usage": {}}))):
            with self.subTest(name):
                shutil.rmtree(self.folder / "it.run", ignore_errors=True)
                done = self.run_with(self.serve([answer]), "--max-usd", "0.02")
                self.assertIn("by the length of their texts", done.stdout)
                shown = self.json("show", "it.run")
                self.assertEqual(shown["used_up"], "money")
                self.assertGreater(shown["cost"]["guessed_usd"], 0)

    def test_replies_are_kept_for_training_where_asked(self):
        status, body = answers(1)[0]
        body["prompt_token_ids"] = [1, 2]
        body["choices"][0] |= {"token_ids": [3], "logprobs": {"content": [{"token": "x", "logprob": -0.5}]}}
        model = self.serve([(status, body)])
        self.run_with(model, "--iterations", "1", "--set", "proposer.keep.logprobs=true", "--set", "proposer.keep.token_ids=true")
        sent = model.requests[0][1]
        self.assertTrue(sent["logprobs"] and sent["return_token_ids"])
        [kept] = [line for line in self.lines("export", "it.run") if line["type"] == "reply"]
        self.assertEqual(kept["ticket"], 1)
        self.assertEqual(kept["reply"]["text"], body["choices"][0]["message"]["content"])
        self.assertEqual((kept["reply"]["tokens"], kept["reply"]["logprobs"]), (["x"], [-0.5]))
        self.assertEqual((kept["reply"]["token_ids"], kept["reply"]["prompt_token_ids"]), ([3], [1, 2]))
        self.assertNotIn("reply", [e for e in events(self.folder / "it.run") if e["event"] == "proposal_arrived"][0])

    def test_prices_can_be_named_when_a_run_is_resumed(self):
        self.succeed("run", "task", "--out", "it.run", *self.asking(self.serve(answers(9))), "--iterations", 1)
        more = ["resume", "it.run", "--iterations", 3, "--max-usd", 1]
        self.refused((more, ["has no price", "resume --set proposer.price_file"]))
        self.succeed(*more, "--set", "proposer.price_file=prices.yaml")

    def test_by_default_nothing_of_a_reply_is_kept(self):
        model = self.serve(answers(1))
        self.run_with(model, "--iterations", "1")
        self.assertNotIn("logprobs", model.requests[0][1])
        self.assertNotIn('"reply"', self.succeed("export", "it.run").stdout)


if __name__ == "__main__":
    unittest.main()
