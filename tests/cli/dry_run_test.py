"""run --dry-run: everything that can be checked without paying, and names what cannot."""

import os
import unittest

from model import KEY, ModelTest
from support import write_task

def for_the_key(has_key):
    if has_key:
        return 200, {"data": [{"id": "scripted"}, {"id": "another"}]}
    return 401, {"error": {"message": "no key"}}


class DryRunTest(ModelTest):
    def setUp(self):
        super().setUp()
        self.model = self.serve([(500, {"error": {"message": "this would have been a paid call"}})])

    def tearDown(self):
        self.assertEqual(self.model.requests, [], "nothing was paid for")
        self.assertFalse(list(self.folder.glob("*.run")), "nothing was written")

    def dry(self, *args, status=0, says=(), key=KEY, url=None):
        """A dry run that ends with this status and those texts among its errors."""
        done = self.ends(status, "run", "task", "--dry-run", "--model", "scripted", "--base-url", url or self.model.url, *args,
                         env={"OPENAI_API_KEY": key})
        self.assertNotIn(KEY, done.stdout + done.stderr)
        for text in says:
            self.assertIn(text, done.stderr)
        return done

    def line(self, done, check):
        [line] = [line for line in done.stdout.splitlines() if line[9:].startswith(check)]
        return line

    def test_all_is_well(self):
        self.model.models = for_the_key
        done = self.dry("--iterations", "40", "--price-file", "prices.yaml", "--max-usd", "5",
                        "--set", "proposer.prompts.budget_tokens=8000")
        self.assertEqual(self.model.gets, ["/v1/models", "/v1/models"])
        for check in ("configuration", "proposer", "server", "key", "model", "evaluator", "prompt"):
            self.assertTrue(self.line(done, check).startswith("ok"), done.stdout)
        self.assertIn("about 40 calls", done.stdout)
        self.assertIn("at most 8000 tokens in and as many out as the server allows", done.stdout)
        self.assertIn("pay for about", done.stdout)
        self.assertIn("with all repairs at most 120 calls and 5.0000 USD", done.stdout)

    def test_what_cannot_be_checked_is_said(self):
        done = self.dry("--time", "60s")
        for check in ("key", "model"):
            self.assertTrue(self.line(done, check).startswith("unknown"), done.stdout)
            self.assertIn("only a call shows", self.line(done, check))
        self.assertIn("price unknown", done.stdout)
        self.assertIn("not known without --iterations", done.stdout)
        self.model.models = lambda _: (200, {"data": [{"id": "another"}]})
        done = self.dry()
        self.assertIn("not on the server's list of 1", self.line(done, "model"))
        self.assertTrue(self.line(done, "key").startswith("unknown"), "anybody gets the list")

    def test_a_key_that_is_refused(self):
        self.model.models = for_the_key
        done = self.dry(key="sk-another-key", status=3)
        self.assertIn("(permission)", done.stderr)
        self.assertTrue(self.line(done, "server").startswith("failed"))
        self.assertTrue(self.line(done, "evaluator").startswith("ok"), "every check is made")

    def test_a_key_that_is_not_set(self):
        self.model.models = for_the_key
        self.dry(key="", status=3, says=["OPENAI_API_KEY is not set"])

    def test_a_provider_that_wants_a_key_is_not_asked_without_one(self):
        for args, says in ((["https://api.openai.com/v1"], "OPENAI_API_KEY"),
                           (["https://openrouter.ai/api/v1"], "OPENAI_API_KEY"),
                           (["https://api.anthropic.com/v1", "--protocol", "messages"], "ANTHROPIC_API_KEY")):
            # A proxy that nobody is at: were the provider asked, the error would be another one.
            env = {"OPENAI_API_KEY": "", "ANTHROPIC_API_KEY": "", "HTTPS_PROXY": "http://127.0.0.1:1", "NO_PROXY": ""}
            command = ["run", "task", "--model", "scripted", "--iterations", "2", "--base-url", *args]
            done = self.ends(2, *command, "--dry-run", env=env)
            self.assertTrue(self.line(done, "key").startswith("failed"), done.stdout)
            self.assertIn("about 2 calls", done.stdout, "the rest is reported all the same")
            self.fail_with(2, *command, says=[f"${says}", "no key is set", f"export {says}=", args[0]], code="not_found",
                           env=env)

    def test_a_misspelt_model(self):
        self.model.models = for_the_key
        done = self.dry("--model", "scirpted")
        self.assertIn("did you mean scripted?", done.stdout)

    def test_a_list_that_holds_the_key(self):
        self.model.models = lambda _: (200, {"data": [{"id": KEY}, {"id": KEY + "x"}]})
        done = self.dry("--model", KEY[:-1] + "8")  # one that is nearest to it
        self.assertIn("not on the server's list", done.stdout)

    def test_operators_name_models_that_there_are(self):
        (self.folder / "run.yaml").write_text(
            "proposer: {kind: chat, models: [{name: other}]}\noperators: [{operator: rewrite, model: other}]\n")
        self.dry("--set", "operators=[{operator: rewrite, model: scirpted}]", status=2,
                 says=["scirpted", "--set operators", "did you mean scripted?"])
        self.dry("--config", "run.yaml", status=2, says=['no model "other"', "known names: scripted"])

    def test_what_will_not_work_as_meant(self):
        (self.folder / "own" / "kernel-smith").mkdir(parents=True)
        (self.folder / "own" / "kernel-smith" / "tip.mustache").write_text("x")
        write_task(self.folder / "task", seed_txt="k0 = 3\n")
        done = self.dry("--set", "operators=[{operator: rewrite}, {operator: tune}]", "--set",
                        "proposer.prompts.folder=own", "--set", "proposer.prompts.budget_tokens=50")
        self.assertIn("no_knobs", self.line(done, "operators"))
        self.assertIn("tip.mustache is not used", self.line(done, "templates"))
        self.assertIn("more than prompts.budget_tokens", self.line(done, "prompt"))
        self.dry("--price-file", "prices.yaml", "--max-usd", "0.000001", status=2, says=["does not pay for one call"])

    def test_files_that_would_be_waited_for(self):
        os.mkfifo(self.folder / "pipe")
        self.dry("--price-file", "pipe", status=2, says=["not a regular file"])
        (self.folder / "own" / "kernel-smith").mkdir(parents=True)
        os.mkfifo(self.folder / "own" / "kernel-smith" / "role.mustache")
        self.dry("--set", "proposer.prompts.folder=own", status=2, says=["not a regular file"])

    def test_the_key_in_a_setting_that_is_kept(self):
        self.dry("--set", f"proposer.models=[{{name: m, extra_body: '{{\"api_token\": \"{KEY}\"}}'}}]", status=2, says=["hold the key"])

    def test_a_server_that_is_not_there(self):
        self.dry(url="http://127.0.0.1:1/v1", status=3, says=["(network)"])

    def test_a_server_that_speaks_no_https(self):
        self.dry(url=self.model.url.replace("http:", "https:"), status=3, says=["check the scheme and port"])

    def test_wrong_use(self):
        for args, says in ((["--max-usd", "1"], "no price"), (["--price-file", "gone.yaml"], "gone.yaml"),
                           (["--set", "proposer.key=${KS_NO_SUCH_KEY}"], "KS_NO_SUCH_KEY"),
                           (["--set", "proposer.prompts.set=none"], "none")):
            self.dry(*args, status=2, says=[says])

    def test_without_a_model_the_evaluator_is_tried(self):
        done = self.succeed("run", "task", "--dry-run")
        self.assertTrue(self.line(done, "evaluator").startswith("ok"), done.stdout)
        self.assertIn("fitness 0", done.stdout)
        write_task(self.folder / "bad", score_sh="exit 1\n")
        text = self.fail_with(2, "run", "bad", "--dry-run", says=["the seed was rejected"], code="refused")
        self.assertIn("correct the seed", text)


if __name__ == "__main__":
    unittest.main()
