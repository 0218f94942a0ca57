"""What a run folder from somebody else cannot do, and what its user's word is needed for."""

import sys
import unittest

from model_run_test import BETTER, KEY, Model, reply
from support import CommandTest, write_task


class ForeignRunTest(CommandTest):
    def setUp(self):
        super().setUp()
        write_task(self.folder / "task")

    def edit(self, run, before, after):
        path = self.folder / run / "run.yaml"
        text = path.read_text()
        self.assertIn(before, text)
        path.write_text(text.replace(before, after))

    def test_the_sandbox_is_turned_off_by_the_user_only(self):
        self.succeed("run", "task", "--iterations", "3", "--out", "a.run")
        self.edit("a.run", "sandbox: required", "sandbox: none")
        says = ["turns the sandbox off", "--set evaluator.sandbox=none"]
        self.fail_with(2, "replay", "a.run", "--out", "b.run", says=says)
        self.fail_with(2, "resume", "a.run", "--iterations", "6", says=says)
        self.assertFalse((self.folder / "b.run").exists())
        self.fail_with(2, "profile", "a.run", "1", says=says)
        word = ["--set", "evaluator.sandbox=none"]
        done = self.succeed("replay", "a.run", "--out", "b.run", *word)
        self.assertRegex(done.stdout, "tier +unsandboxed")
        self.succeed("profile", "a.run", "1", *word)
        done = self.succeed("resume", "a.run", "--iterations", "6", *word)
        self.assertIn("--set evaluator.sandbox=none", done.stdout, "it is needed the next time, too")
        self.succeed("replay", "a.run", "--out", "c.run", "--keep-evaluations")  # runs nothing
        self.succeed("resume", "a.run", "--iterations", "8", "--set", "evaluator.sandbox=required")
        done = self.succeed("resume", "a.run", "--iterations", "10")
        self.assertNotIn("--set", done.stdout)

    def test_a_python_task_turns_the_sandbox_off_by_the_user_only(self):
        self.succeed("init", "own", "--template", "python")
        task = self.folder / "own/task.yaml"
        task.write_text(task.read_text() + "sandbox: false\n")
        self.succeed("run", "own", "--iterations", "3", "--out", "a.run")
        self.fail_with(2, "resume", "a.run", "--iterations", "6", says=["--set evaluator.sandbox=none"])
        self.succeed("resume", "a.run", "--iterations", "6", "--set", "evaluator.sandbox=none")

    def test_a_python_that_a_task_names_is_the_users_to_name_again(self):
        self.succeed("init", "own", "--template", "python")
        task = self.folder / "own/task.yaml"
        task.write_text(task.read_text() + f"python: {sys.executable}\n")
        self.succeed("run", "own", "--iterations", "3", "--out", "a.run")
        self.fail_with(2, "resume", "a.run", "--iterations", "6", says=["names a Python", "--set evaluator.python="])
        self.succeed("resume", "a.run", "--iterations", "6", "--set", f"evaluator.python={sys.executable}")

    def test_a_setting_that_is_refused_does_not_stay_in_the_run(self):
        self.succeed("run", "task", "--iterations", "3", "--out", "a.run")
        self.fail_with(2, "resume", "a.run", "--iterations", "6", "--set", "seed=7", says=["seed"])
        self.succeed("resume", "a.run", "--iterations", "6")

    def test_a_key_in_a_variable_of_another_name_is_vouched_for(self):
        model = Model([reply(f"```\n{BETTER}```\n")])
        self.addCleanup(model.close)
        env = {"GATEWAY_TOKEN": KEY, "OPENAI_API_KEY": ""}
        key = "proposer.key=${GATEWAY_TOKEN}"
        done = self.succeed("run", "task", "--model", "m", "--base-url", model.url, "--set", key, "--iterations", "1",
                            "--out", "a.run", env=env)
        self.assertIn(f"--set '{key}'", done.stdout)
        self.fail_with(2, "resume", "a.run", "--iterations", "2", says=["GATEWAY_TOKEN", f"--set '{key}'"], env=env)
        self.succeed("resume", "a.run", "--iterations", "2", "--set", key, env=env)
        self.assertEqual(model.requests[-1][0]["Authorization"], f"Bearer {KEY}")

    def test_recordings_that_lead_in_a_circle(self):
        self.succeed("run", "task", "--iterations", "3", "--out", "a.run")
        self.succeed("replay", "a.run", "--keep-evaluations", "--out", "b.run")
        self.edit("b.run", str(self.folder / "a.run"), str(self.folder / "b.run"))
        self.edit("b.run", "live: false", "live: true")
        self.fail_with(2, "resume", "b.run", "--iterations", "9", says=["repeats one"], code="bad_input")
        self.fail_with(2, "replay", "b.run", "--live", "--out", "c.run", says=["repeats one"], code="bad_input")
        self.succeed("show", "b.run")


if __name__ == "__main__":
    unittest.main()
