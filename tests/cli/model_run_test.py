"""A run whose children come from a scripted model: right, wrong, broken, oddly fenced, refused, cut off. A server on
this machine plays the model; the protocol's own troubles are tested in tests/llm."""

import json
import os
import re
import signal
import subprocess
import unittest

from model import BETTER, BROKEN, KEY, WINNER, ModelTest, program, proposals, reply
from support import KERNELSMITH, PATIENCE_S, TASK, wait_for, write_task

SCRIPT = [
    reply(f"Higher digits:\n```\n{BETTER}```\nThat should do."),
    (429, {"error": {"message": f"slow down, {KEY}"}}),
    (500, {"error": {"message": f"you are {KEY}"}}),
    reply("I would raise the digits."),
    reply("<<<<<<< SEARCH\nthis line is not there\n=======\nk0 = 7\n>>>>>>> REPLACE\n"),
    reply("```txt\nk0 = 7", finish="length"),
    reply("", finish="content_filter"),
    reply(""),
    reply(f"<think>\n```\nk0 = 1\n```\nhm\n</think>\n~~~~ini\n{BROKEN}~~~~\n"),
    reply(f"The first digit was no number.\r\n```\r\n{WINNER}```\r\n"),
]


class ModelRunTest(ModelTest):
    def run_with(self, script, *args, status=0):
        model = self.serve(script)
        return model, self.ends(status, "run", "task", "--out", "it.run", "--workers", "1", *self.asking(model), "--set",
                                "proposer.concurrency=1", *args)

    def test_the_run_survives_every_reply_and_finds_the_winner(self):
        model, done = self.run_with(SCRIPT, "--iterations", "12", "--price-file", "prices.yaml")
        shown = self.json("show", "it.run")
        self.assertEqual(shown["best"]["evaluation"]["fitness"], 42)
        arrived = proposals(self.folder / "it.run")
        refusals = [p["refusal"]["code"] for p in arrived if "refusal" in p]
        self.assertEqual(sorted(set(refusals)),
                         ["declined", "edit_unmatched", "empty_reply", "no_code", "truncated", "unchanged"])
        origins = [p["child"]["origin"] for p in arrived if "child" in p]
        self.assertIn("repair", origins, "what did not run is repaired")
        paid = [p["cost"] for p in arrived if p["cost"]["input_tokens"]]
        self.assertEqual(len(paid), len(model.requests) - 2, "every reply is paid for once, and errors are not")
        for cost in paid:
            self.assertAlmostEqual(cost["usd"], 0.001 + 0.001)
        self.assertEqual(model.requests[0][0]["Authorization"], f"Bearer {KEY}")
        self.assertEqual(model.requests[0][1]["model"], "scripted")
        self.assertNotIn(KEY, done.stdout + done.stderr)
        for path in (self.folder / "it.run").rglob("*"):
            if path.is_file():
                self.assertNotIn(KEY.encode(), path.read_bytes(), path)

    def test_prompts_and_replies_are_kept_for_training_and_old_prompts_made_again(self):
        model, _ = self.run_with(SCRIPT, "--iterations", "12", "--for-training",
                                "--set", "proposer.models=[{name: scripted, temperature: 0.5}]")
        lines = self.lines("export", "it.run")
        replies = {line["ticket"]: line["reply"] for line in lines if line["type"] == "reply"}
        refused = {line["ticket"]: line["refusal"]["code"] for line in lines if line["type"] == "refusal"}
        self.assertIn(("I would raise the digits.", "no_code"),
                      [(answer["text"], refused.get(ticket)) for ticket, answer in replies.items()])
        sent = [[message["content"] for message in body["messages"]] for _, body in model.requests]
        self.assertNotIn("logprobs", model.requests[0][1])
        self.assertGreaterEqual(len(replies), 8)
        self.assertEqual({answer["finish_reason"] for answer in replies.values()}, {"stop", "length", "declined"})
        self.assertEqual({answer["temperature"] for answer in replies.values()}, {0.5})
        self.assertEqual(len({answer["template_digest"] for answer in replies.values()}), 1)
        for ticket, answer in replies.items():
            messages = self.json("prompt", "it.run", "--ticket", str(ticket))["messages"]
            self.assertEqual([message["content"] for message in messages], [answer["system"], answer["user"]], ticket)
            self.assertIn([answer["system"], answer["user"]], sent)
        self.refused((["prompt", "it.run", "--ticket", "9999"], "no ticket 9999"), (["prompt", "it.run", "--ticket", "0"], "ticket 0"))
        self.edit("it.run/run.yaml", "set: kernel-smith", "set: relaxed")
        self.fail_with(2, "prompt", "it.run", "--ticket", str(max(replies)), says=["cannot be made again", "--for-training"])

    def test_a_server_whose_weights_change_is_one_run_with_several_revisions(self):
        def answer(number, _):
            status, body = reply(f"```\n{program(number, 0, 0, 0, 0, 0)}```\n")
            return status, body | {"model": f"scripted@step-{number // 2}"}

        model, _ = self.run_with(answer, "--iterations", "3")
        self.assertEqual({body["model"] for _, body in model.requests}, {"scripted"})
        self.assertEqual([p["cost"].get("revision") for p in proposals(self.folder / "it.run") if p["cost"]["input_tokens"]],
                         [f"step-{number // 2}" for number in range(len(model.requests))])
        names = [each["model"] for each in self.json("show", "it.run")["cost"]["models"]]
        self.assertEqual(names[:2], ["scripted@step-0", "scripted@step-1"])
        self.succeed("resume", "it.run", "--iterations", "4")

    def test_the_best_of_a_run_without_a_seed_is_a_file(self):
        write_task(self.folder / "task", task_yaml=TASK.replace("seed: seed.txt", "reference: seed.txt"))
        _, done = self.run_with([reply(f"```\n{BETTER}```\n")], "--iterations", "1")
        [best] = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("best ")]
        self.assertTrue((self.folder / best).is_file(), best)

    def test_errors_use_up_no_iteration_and_end_the_run(self):
        model, done = self.run_with([(401, {"error": {"message": f"no such key {KEY}"}})], "--iterations", "3", status=3)
        self.assertIn("(permission)", done.stderr)
        self.assertNotIn(KEY, done.stdout + done.stderr)
        self.assertIn("0 iterations", done.stdout)
        self.assertEqual(len(model.requests), 1, "a key that was refused once is refused again")
        self.assertIn("an error, which is shown below", done.stdout)
        in_one_pipe = subprocess.run([KERNELSMITH, "resume", "it.run"], cwd=self.folder, env={**os.environ, "OPENAI_API_KEY": KEY},
                                     stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
        self.assertLess(in_one_pipe.index("which is shown below"), in_one_pipe.index("error: "), in_one_pipe)
        self.assertIn("after you have removed the cause of the error", done.stdout)
        shown = self.json("show", "it.run")
        self.assertIsNone(shown["ended"])
        self.assertEqual(shown["error"]["code"], "permission")
        self.assertRegex(self.succeed("show", "it.run").stdout, r"state +an error ended the last session:\n +.*(permission)")
        model.script[:] = [(401, {"error": {"message": "no such key " + "x" * 600}})]
        self.ends(3, "resume", "it.run")
        whole, cut = (self.succeed("show", "it.run", *more).stdout for more in (["--all"], []))
        self.assertLessEqual(max(map(len, cut.splitlines())), 200)
        self.assertGreater(max(map(len, whole.splitlines())), 200)
        model.script[:] = [reply(f"```\n{BETTER}```\n")]
        done = self.succeed("resume", "it.run")
        self.assertIn("the last session ended with an error, which this one may come to again", done.stderr)
        self.assertIsNone(self.json("show", "it.run")["error"])

    def test_what_a_server_broke_off_is_no_child(self):
        half = f"```\n{BETTER}```\nAnd now all of it:\n"
        model, _ = self.run_with([reply(half, finish="abort"), reply(f"```\n{WINNER}```\n")], "--iterations", "1")
        self.assertEqual(len(model.requests), 2)
        self.assertEqual(self.json("show", "it.run")["best"]["evaluation"]["fitness"], 42)

    def test_an_account_without_money_ends_the_run(self):
        model, done = self.run_with([(402, {"detail": "Insufficient Balance"})], "--iterations", "3",
                                    "--set", "limits.errors_in_a_row=2", status=3)
        self.assertIn("Insufficient Balance", done.stderr)
        self.assertIn("(rate_limited)", done.stderr)
        self.assertEqual(len(model.requests), 2, "no call is tried again")

    def test_a_program_that_is_called_reasoning_is_taken_and_told(self):
        message = {"content": "", "reasoning_content": f"Higher digits:\n```\n{WINNER}```\n"}
        _, done = self.run_with([(200, {"choices": [{"message": message, "finish_reason": "stop"}]})], "--iterations",
                                "1")
        self.assertEqual(self.json("show", "it.run")["best"]["evaluation"]["fitness"], 42)
        self.assertIn("reasoning_content", done.stderr)

    def test_replies_that_give_nothing_are_counted(self):
        model, done = self.run_with([reply("```\nk0 = 7", finish="length"), reply("no code")], "--iterations", "2")
        self.assertIn("refused  proposals without a child: no_code 1, truncated 1", done.stdout)
        self.assertIn("max_output_tokens", done.stdout)
        # Figures of the whole run, whatever session they were in.
        model.script[:] = [reply("no code")]
        done = self.succeed("resume", "it.run", "--iterations", "4")
        self.assertIn("refused  proposals without a child: no_code 3, truncated 1", done.stdout)

    def test_a_terminal_that_goes_ends_the_run_in_order(self):
        model = self.serve([None])
        process = self.begin("run", "task", "--out", "it.run", *self.asking(model))
        wait_for(lambda: model.requests or process.poll() is not None, "a call")
        process.stderr.close()
        process.send_signal(signal.SIGHUP)
        self.assertEqual(process.wait(PATIENCE_S), 130)
        process.stdout.close()

    def test_the_server_of_the_environment_is_kept(self):
        model = self.serve([reply("no code")])
        self.succeed("run", "task", "--out", "it.run", "--model", "m", "--iterations", "1", env={"OPENAI_BASE_URL": model.url})
        self.assertRegex((self.folder / "it.run/run.yaml").read_text(), f'base_url: "?{model.url}"?\n')
        self.succeed("resume", "it.run", "--iterations", "2", env={"OPENAI_BASE_URL": ""})
        self.assertEqual(len(model.requests), 2)
        self.fail_with(2, "run", "task", "--model", "m", says=["$OPENAI_BASE_URL", "htp"], env={"OPENAI_BASE_URL": "htp://x/v1"})

    def test_what_a_server_and_a_model_write_does_not_steer_the_terminal(self):
        evil = "\x1b]0;x\x07 \x9b31m \u202e"
        best = WINNER + f"# {evil}\n"
        _, done = self.run_with([(500, {"error": {"message": evil}}), reply(f"```\n{best}```\n")], "--iterations", "2")
        shown, as_json, exported = (self.succeed(*words, "it.run") for words in (["show"], ["show", "--json"], ["export"]))
        self.assertIn("\\x1b]0;x", shown.stdout)
        self.assertIn("\\u009b31m", exported.stdout)
        for text in (done.stdout + done.stderr, shown.stdout, as_json.stdout, exported.stdout):
            for control in ("\x1b", "\x07", "\x9b", "\u202e"):
                self.assertNotIn(control, text)
        texts = [line["source"][0]["text"] for line in map(json.loads, exported.stdout.splitlines())
                 if line["type"] == "program"]
        self.assertIn(best, texts, "escaped, and the same value")

    def test_a_run_folder_does_not_decide_where_a_secret_goes(self):
        model, done = self.run_with([reply(f"```\n{BETTER}```\n")], "--iterations", "1")
        self.assertIn(f"models are asked at {model.url}, with the key in $OPENAI_API_KEY", done.stderr)
        configuration = (self.folder / "it.run" / "run.yaml").read_text()
        asked = len(model.requests)
        secrets = {"OPENAI_API_KEY": KEY, "SOME_SECRET": "not-for-others-0123"}

        def edit(before, after):
            (self.folder / "it.run" / "run.yaml").write_text(configuration)
            self.edit("it.run/run.yaml", before, after)

        resume = ["resume", "it.run", "--iterations", "2"]
        edit(model.url, "https://model.invalid/v1")
        self.fail_with(2, *resume, says=["would send $OPENAI_API_KEY to https://model.invalid/v1", "--base-url"],
                       env=secrets)
        self.fail_with(2, "replay", "it.run", "--keep-evaluations", "--live", says=["https://model.invalid/v1"],
                       env=secrets)
        edit('key: ""', 'key: "${SOME_SECRET}"')
        said = self.fail_with(2, *resume, says=["SOME_SECRET", "not named as an API key"], env=secrets)
        self.assertNotIn("not-for-others", said)
        self.assertEqual(len(model.requests), asked)
        edit('key: ""', 'key: "${SOME_SECRET}"')
        self.ends(2, *resume, "--base-url", model.url, env=secrets)
        self.assertEqual(len(model.requests), asked)
        self.succeed(*resume, "--base-url", model.url, "--set", "proposer.key=${SOME_SECRET}", env=secrets)
        self.assertEqual(len(model.requests), asked + 1)
        self.assertEqual(model.requests[-1][0]["Authorization"], "Bearer not-for-others-0123")

    def test_deliberate_mistakes(self):
        run, model = ["run", "task"], ["run", "task", "--model", "m"]
        self.refused(([*model, "--base-url", "http://example.com/v1"], "in the open"),
                     ([*run, "--base-url", "http://127.0.0.1:1/v1"], ["no model is named", "--model"]),
                     ([*model, "--set", f"proposer.key={KEY}"], "${NAME}"),
                     ([*model, "--set", "proposer.key=${KS_NO_SUCH_KEY}"], "KS_NO_SUCH_KEY", "not_found"),
                     ([*model, "--price-file", "gone.yaml"], "gone.yaml"),
                     ([*run, "--model", "--base-url", "http://127.0.0.1:1/v1"], ["--model", "NAME is missing"]),
                     ([*run, "--model", ""], "'proposer.models[0].name' is empty"),
                     ([*model, "--base-url", "http//host"], '"http//host" is not a URL'),
                     ([*run, "--manual", ""], ["--manual", "'proposer.folder' is empty"]),
                     ([*run, "--manual", "task/task.yaml"], "this is not a folder"),
                     ([*model, "--set", "proposer.ca_file=task/task.yaml"], "holds no certificate"))
        for wrong in (["--set", f"proposer.key={KEY}"], ["--set", f"proposer.key=${{{KEY}}}"],
                      ["--set", f"proposer={{kind: chat, key: {KEY}}}"], ["--base-url", f"https://host/v1?key={KEY}"],
                      ["--base-url", f"https://host/{KEY}/v1"]):
            self.assertNotIn(KEY, self.fail_with(2, *model, *wrong, says=[]))

    def test_a_run_is_resumed_from_anywhere(self):
        self.run_with(SCRIPT[-1:], "--iterations", "2", "--price-file", "prices.yaml")
        self.succeed("resume", self.folder / "it.run", "--iterations", "3", cwd="/")


class LongLineageTest(ModelTest):
    def test_show_tells_the_steps_that_gained_most(self):
        """Each reply is a little better than all before it, and the fifth much better."""
        sums = [number + (8 if number > 4 else 0) for number in range(1, 35)]
        rows = [[min(7, max(0, total - 7 * at)) for at in range(6)] for total in sums]
        model = self.serve([reply(f"```\n{program(*row)}```\n") for row in rows])
        greedy = "sampler={kind: mixture, explore: 0, exploit: 1, weighted: 0, elite_fraction: 0.001}"
        self.succeed("run", "task", "--out", "it.run", "--iterations", 30, "--deterministic", "--workers", 1,
                     *(word for setting in ("pipeline=1", "limits.tunings=0", greedy) for word in ("--set", setting)),
                     *self.asking(model))
        shown = self.succeed("show", "it.run").stdout
        steps = int(re.search(r"\nlineage of the best: (\d+) steps.*; --all shows every step", shown)[1])
        self.assertGreater(steps, 12)
        told = re.findall(r"\n  program \d+ \(", shown)
        self.assertEqual(len(told), 12)
        self.assertRegex(shown, r"\n  \.\.\. \d+ steps?, [\d.]+ times program \d+\n")
        self.assertLessEqual(max(map(len, shown.splitlines())), 100)
        self.assertLess(shown.index("lineage of the best"), shown.index("\nprograms  "))
        whole = self.succeed("show", "it.run", "--all").stdout
        self.assertEqual(len(re.findall(r"\n  program \d+ \(", whole)), steps + 1)


if __name__ == "__main__":
    unittest.main()
