"""A run whose children come from a scripted model: right, wrong, broken, oddly fenced, refused, cut off. A server on
this machine plays the model; the protocol's own troubles are tested in tests/llm."""

import json
import os
import signal
import sqlite3
import subprocess
import threading
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from support import KERNELSMITH, PATIENCE_S, SEED, TASK, CommandTest, kernelsmith, start, wait_for, write_task

KEY = "sk-planted-key-0123456789"


def program(*values):
    return "".join(f"k{i} = {value}  # @tune 0 1 2 3 4 5 6 7\n" for i, value in enumerate(values))


def reply(text, finish="stop"):
    message = {"content": text}
    usage = {"prompt_tokens": 1000, "completion_tokens": 100}
    return 200, {"choices": [{"message": message, "finish_reason": finish}], "usage": usage}


BETTER = program(1, 2, 3, 4, 5, 6)
BROKEN = "k0 = oops  # no number\n" + program(0, 7, 7, 7, 7, 7)[len("k0 = 0  # @tune 0 1 2 3 4 5 6 7\n"):]
WINNER = program(7, 7, 7, 7, 7, 7)

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


class Model:
    """Serves the script, one entry a request, and its last entry for ever; a script that is a function is given the
    request's number, from 0, and its body."""

    def __init__(self, script):
        self.lock = threading.Lock()
        self.requests = []
        self.gets = []
        self.models = None  # (status, answer) to a GET by whether it carries the key; None: there is no such path
        self.script = script  # may be replaced; None in place of an answer hangs
        model = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with model.lock:
                    number = len(model.requests)
                    model.requests.append((dict(self.headers), body))
                script = model.script
                answer = script(number, body) if callable(script) else script[min(number, len(script) - 1)]
                if answer is None:
                    model.closed.wait()
                    return
                self.answer(*answer)

            def do_GET(self):
                model.gets.append(self.path)
                has_key = KEY in str(self.headers)
                self.answer(*(model.models(has_key) if model.models else (404, {"error": {"message": "no such path"}})))

            def answer(self, status, answer):
                text = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_):
                pass

        self.closed = threading.Event()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/v1"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.closed.set()
        self.server.shutdown()
        self.server.server_close()


def events(run):
    database = sqlite3.connect(run / "run.db")
    bodies = [json.loads(body) for (body,) in database.execute("select body from events order by position")]
    database.close()
    return bodies


def proposals(run):
    return [body["proposal"] for body in events(run) if body["event"] == "proposal_arrived"]


class ModelRunTest(CommandTest):
    def setUp(self):
        super().setUp()
        write_task(self.folder / "task")

    def run_with(self, script, *args):
        model = Model(script)
        self.addCleanup(model.close)
        done = kernelsmith("run", "task", "--out", "it.run", "--workers", "1", "--model", "scripted", "--base-url",
                           model.url, "--set", "proposer.concurrency=1", *args, cwd=self.folder,
                           env={"OPENAI_API_KEY": KEY})
        return model, done

    def test_the_run_survives_every_reply_and_finds_the_winner(self):
        (self.folder / "prices.yaml").write_text("version: 1\nprices: [{model: scripted, input: 1, output: 10}]\n")
        model, done = self.run_with(SCRIPT, "--iterations", "12", "--price-file", "prices.yaml")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
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

    def test_prompts_and_replies_are_kept_for_training_and_old_prompts_made_again(self):
        _, done = self.run_with(SCRIPT, "--iterations", "12", "--for-training",
                                "--set", "proposer.models=[{name: scripted, temperature: 0.5}]")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        lines = [json.loads(line) for line in self.succeed("export", "it.run").stdout.splitlines()]
        replies = {line["ticket"]: line["reply"] for line in lines if line["type"] == "reply"}
        self.assertGreaterEqual(len(replies), 8)
        self.assertEqual({answer["finish_reason"] for answer in replies.values()}, {"stop", "length", "declined"})
        self.assertEqual({answer["temperature"] for answer in replies.values()}, {0.5})
        self.assertEqual(len({answer["template_digest"] for answer in replies.values()}), 1)
        for ticket, answer in replies.items():
            messages = self.json("prompt", "it.run", "--ticket", str(ticket))["messages"]
            self.assertEqual([message["content"] for message in messages], [answer["system"], answer["user"]], ticket)
        self.fail_with(2, "prompt", "it.run", "--ticket", "9999", says=["no ticket 9999"])
        self.fail_with(2, "prompt", "it.run", "--ticket", "0", says=["ticket 0"])
        (self.folder / "it.run/run.yaml").write_text(
            (self.folder / "it.run/run.yaml").read_text().replace("set: kernel-smith", "set: relaxed"))
        self.fail_with(2, "prompt", "it.run", "--ticket", str(max(replies)), says=["cannot be made again", "--for-training"])

    def test_a_server_whose_weights_change_is_one_run_with_several_revisions(self):
        def answer(number, _):
            status, body = reply(f"```\n{program(number, 0, 0, 0, 0, 0)}```\n")
            return status, body | {"model": f"scripted@step-{number // 2}"}

        model, done = self.run_with(answer, "--iterations", "3")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual({body["model"] for _, body in model.requests}, {"scripted"})
        self.assertEqual([p["cost"].get("revision") for p in proposals(self.folder / "it.run") if p["cost"]["input_tokens"]],
                         [f"step-{number // 2}" for number in range(len(model.requests))])
        names = [each["model"] for each in self.json("show", "it.run")["cost"]["models"]]
        self.assertEqual(names[:2], ["scripted@step-0", "scripted@step-1"])
        self.succeed("resume", "it.run", "--iterations", "4", env={"OPENAI_API_KEY": KEY})

    def test_the_best_of_a_run_without_a_seed_is_a_file(self):
        write_task(self.folder / "task", task_yaml=TASK.replace("seed: seed.txt", "reference: seed.txt"))
        _, done = self.run_with([reply(f"```\n{BETTER}```\n")], "--iterations", "1")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        [best] = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("best ")]
        self.assertTrue((self.folder / best).is_file(), best)

    def test_the_key_is_nowhere(self):
        _, done = self.run_with(SCRIPT, "--iterations", "3")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertNotIn(KEY, done.stdout + done.stderr)
        for path in (self.folder / "it.run").rglob("*"):
            if path.is_file():
                self.assertNotIn(KEY.encode(), path.read_bytes(), path)

    def test_errors_use_up_no_iteration_and_end_the_run(self):
        model, done = self.run_with([(401, {"error": {"message": f"no such key {KEY}"}})], "--iterations", "3")
        self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
        self.assertIn("(permission)", done.stderr)
        self.assertNotIn(KEY, done.stdout + done.stderr)
        self.assertIn("0 iterations", done.stdout)
        self.assertEqual(len(model.requests), 1, "a key that was refused once is refused again")
        self.assertIn("an error, which is shown below", done.stdout)
        in_one_pipe = subprocess.run([KERNELSMITH, "resume", "it.run"], cwd=self.folder, env={**os.environ, "OPENAI_API_KEY": KEY},
                                     stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
        self.assertLess(in_one_pipe.index("which is shown below"), in_one_pipe.index("error: "), in_one_pipe)
        self.assertIn("once what the error names is mended", done.stdout)
        shown = self.json("show", "it.run")
        self.assertIsNone(shown["ended"])
        self.assertEqual(shown["error"]["code"], "permission")
        self.assertRegex(self.succeed("show", "it.run").stdout, r"state +an error ended the last session:\n +.*(permission)")
        model.script[:] = [(401, {"error": {"message": "no such key " + "x" * 600}})]
        kernelsmith("resume", "it.run", cwd=self.folder, env={"OPENAI_API_KEY": KEY})
        whole, cut = (self.succeed("show", "it.run", *more).stdout for more in (["--all"], []))
        self.assertLessEqual(max(map(len, cut.splitlines())), 200)
        self.assertGreater(max(map(len, whole.splitlines())), 200)
        model.script[:] = [reply(f"```\n{BETTER}```\n")]
        done = kernelsmith("resume", "it.run", cwd=self.folder, env={"OPENAI_API_KEY": KEY})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("the last session ended with an error, which this one may come to again", done.stderr)
        self.assertIsNone(self.json("show", "it.run")["error"])

    def test_what_a_server_broke_off_is_no_child(self):
        half = f"```\n{BETTER}```\nAnd now all of it:\n"
        model, done = self.run_with([reply(half, finish="abort"), reply(f"```\n{WINNER}```\n")], "--iterations", "1")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(len(model.requests), 2)
        self.assertEqual(self.json("show", "it.run")["best"]["evaluation"]["fitness"], 42)

    def test_an_account_without_money_ends_the_run(self):
        model, done = self.run_with([(402, {"detail": "Insufficient Balance"})], "--iterations", "3",
                                    "--set", "limits.errors_in_a_row=2")
        self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
        self.assertIn("Insufficient Balance", done.stderr)
        self.assertIn("(rate_limited)", done.stderr)
        self.assertEqual(len(model.requests), 2, "no call is tried again")

    def test_a_program_that_is_called_reasoning_is_taken_and_told(self):
        message = {"content": "", "reasoning_content": f"Higher digits:\n```\n{WINNER}```\n"}
        _, done = self.run_with([(200, {"choices": [{"message": message, "finish_reason": "stop"}]})], "--iterations",
                                "1")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(self.json("show", "it.run")["best"]["evaluation"]["fitness"], 42)
        self.assertIn("reasoning_content", done.stderr)

    def test_replies_that_give_nothing_are_counted(self):
        model, done = self.run_with([reply("```\nk0 = 7", finish="length"), reply("no code")], "--iterations", "2")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("refused  proposals without a child: no_code 1, truncated 1", done.stdout)
        self.assertIn("max_output_tokens", done.stdout)
        # Figures of the whole run, whatever session they were in.
        model.script[:] = [reply("no code")]
        done = kernelsmith("resume", "it.run", "--iterations", "4", cwd=self.folder, env={"OPENAI_API_KEY": KEY})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("refused  proposals without a child: no_code 3, truncated 1", done.stdout)

    def test_a_time_limit_ends_what_is_not_answered(self):
        model, done = self.run_with([(503, {"error": {"message": "busy"}})], "--time", "2s", "--set", "proposer.attempts=1000",
                                    "--set", "limits.errors_in_a_row=1000")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("no model answered before the budget was used up", done.stderr)
        self.assertIn("ended    the time is used up", done.stdout)

    def test_a_terminal_that_goes_ends_the_run_in_order(self):
        model = Model([None])
        self.addCleanup(model.close)
        process = start("run", "task", "--out", "it.run", "--model", "scripted", "--base-url", model.url,
                        cwd=self.folder, env={"OPENAI_API_KEY": KEY})
        wait_for(lambda: model.requests or process.poll() is not None, "a call")
        process.stderr.close()
        process.send_signal(signal.SIGHUP)
        self.assertEqual(process.wait(PATIENCE_S), 130)
        process.stdout.close()

    def test_the_server_of_the_environment_is_kept(self):
        model = Model([reply("no code")])
        self.addCleanup(model.close)
        env = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": model.url}
        done = kernelsmith("run", "task", "--out", "it.run", "--model", "m", "--iterations", "1", cwd=self.folder,
                           env=env)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn(f'base_url: "{model.url}"', (self.folder / "it.run/run.yaml").read_text().replace(
            f"base_url: {model.url}", f'base_url: "{model.url}"'))
        done = kernelsmith("resume", "it.run", "--iterations", "2", cwd=self.folder,
                           env={"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": ""})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(len(model.requests), 2)
        self.fail_with(2, "run", "task", "--model", "m", says=["$OPENAI_BASE_URL", "htp"],
                       env={"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": "htp://x/v1"})

    def test_operators_name_models_that_there_are(self):
        self.fail_with(2, "run", "task", "--model", "good", "--base-url", "http://127.0.0.1:1/v1", "--set",
                       "operators=[{operator: rewrite, model: godo, weight: 1}]",
                       says=['"godo"', "did you mean good?"], code="bad_input")
        self.assertFalse(list(self.folder.glob("*.run")), "nothing is left behind")

    def test_a_runs_own_prompts_are_shown(self):
        templates = self.folder / "own" / "mine"
        templates.mkdir(parents=True)
        (templates / "role.mustache").write_text("You are the smith of {{task.name}}.\n")
        ours = ["--set", f"proposer.prompts={{folder: {self.folder / 'own'}, set: mine, budget_tokens: 5000}}"]
        model, done = self.run_with([reply("no code")], "--iterations", "1", *ours)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        sent = model.requests[0][1]["messages"][0]["content"]
        self.assertTrue(sent.startswith("You are the smith of hill.\n"))
        shown = self.json("prompt", "it.run", "--operator", "rewrite")
        self.assertEqual((shown["set"], shown["budget"]), ("mine", 5000))
        self.assertEqual(shown["messages"][0]["content"], sent)
        self.assertEqual(self.json("prompt", "it.run", "--set", "relaxed", "--budget", "0")["budget"], None)

    def test_what_a_server_and_a_model_write_does_not_steer_the_terminal(self):
        evil = "\x1b]0;x\x07 \x9b31m \u202e"
        best = WINNER + f"# {evil}\n"
        _, done = self.run_with([(500, {"error": {"message": evil}}), reply(f"```\n{best}```\n")], "--iterations", "2")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        shown = kernelsmith("show", "it.run", cwd=self.folder)
        as_json = kernelsmith("show", "it.run", "--json", cwd=self.folder)
        exported = kernelsmith("export", "it.run", cwd=self.folder)
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
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn(f"models are asked at {model.url}, with the key in $OPENAI_API_KEY", done.stderr)
        configuration = (self.folder / "it.run" / "run.yaml").read_text()
        asked = len(model.requests)
        secrets = {"OPENAI_API_KEY": KEY, "SOME_SECRET": "not-for-others-0123"}

        def edit(before, after):
            self.assertIn(before, configuration)
            (self.folder / "it.run" / "run.yaml").write_text(configuration.replace(before, after))

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
        done = kernelsmith(*resume, "--base-url", model.url, cwd=self.folder, env=secrets)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertEqual(len(model.requests), asked)
        done = kernelsmith(*resume, "--base-url", model.url, "--set", "proposer.key=${SOME_SECRET}", cwd=self.folder,
                           env=secrets)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(len(model.requests), asked + 1)
        self.assertEqual(model.requests[-1][0]["Authorization"], "Bearer not-for-others-0123")

    def test_deliberate_mistakes(self):
        self.fail_with(2, "run", "task", "--model", "m", "--base-url", "http://example.com/v1",
                       says=["in the open"], env={"OPENAI_API_KEY": KEY})
        self.fail_with(2, "run", "task", "--base-url", "http://127.0.0.1:1/v1", says=["no model is named", "--model"])
        for wrong in (["--set", f"proposer.key={KEY}"], ["--set", f"proposer.key=${{{KEY}}}"],
                      ["--set", f"proposer={{kind: chat, key: {KEY}}}"], ["--base-url", f"https://host/v1?key={KEY}"],
                      ["--base-url", f"https://host/{KEY}/v1"]):
            said = self.fail_with(2, "run", "task", "--model", "m", *wrong, says=[], env={"OPENAI_API_KEY": KEY})
            self.assertNotIn(KEY, said)
        self.fail_with(2, "run", "task", "--model", "m", "--set", f"proposer.key={KEY}", says=["${NAME}"])
        self.fail_with(2, "run", "task", "--model", "m", "--set", "proposer.key=${KS_NO_SUCH_KEY}",
                       says=["KS_NO_SUCH_KEY"], code="not_found")
        self.fail_with(2, "run", "task", "--model", "m", "--price-file", "gone.yaml", says=["gone.yaml"])
        self.fail_with(2, "run", "task", "--model", "--base-url", "http://127.0.0.1:1/v1",
                       says=["--model", "NAME is missing"])
        self.fail_with(2, "run", "task", "--model", "", says=["'proposer.models[0].name' is empty"])
        self.fail_with(2, "run", "task", "--model", "m", "--base-url", "http//host", says=['"http//host" is no URL'])
        self.fail_with(2, "run", "task", "--manual", "", says=["--manual", "'proposer.folder' is empty"])
        self.fail_with(2, "run", "task", "--manual", "task/task.yaml", says=["this is no folder"])
        self.fail_with(2, "run", "task", "--model", "m", "--set", "proposer.ca_file=task/task.yaml",
                       says=["holds no certificate"])
        self.assertEqual(SEED.count("@tune"), 6)

    def test_a_run_is_resumed_from_anywhere(self):
        (self.folder / "prices.yaml").write_text("version: 1\nprices: [{model: scripted, input: 1, output: 10}]\n")
        _, done = self.run_with(SCRIPT[-1:], "--iterations", "2", "--price-file", "prices.yaml")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        done = kernelsmith("resume", self.folder / "it.run", "--iterations", "3", cwd="/", env={"OPENAI_API_KEY": KEY})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
