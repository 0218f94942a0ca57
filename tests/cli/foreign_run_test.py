"""What a run folder from somebody else cannot do, and what its user's word is needed for."""

import shutil
import sys
import unittest

from model import BETTER, KEY, ModelTest, reply


class ForeignRunTest(ModelTest):
    def test_the_sandbox_is_turned_off_by_the_user_only(self):
        self.succeed("run", "task", "--iterations", "3", "--out", "a.run")
        self.edit("a.run/run.yaml", "sandbox: required", "sandbox: none")
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

    def test_what_a_python_task_says_is_the_users_to_say_again(self):
        self.succeed("init", "own", "--template", "python")
        task = self.folder / "own/task.yaml"
        made = task.read_text()
        for line, says, word in (("sandbox: false", "--set evaluator.sandbox=none", "evaluator.sandbox=none"),
                                 (f"python: {sys.executable}", "names a Python", f"evaluator.python={sys.executable}")):
            with self.subTest(line):
                task.write_text(f"{made}{line}\n")
                shutil.rmtree(self.folder / "a.run", ignore_errors=True)
                self.succeed("run", "own", "--iterations", "3", "--out", "a.run")
                self.refused((["resume", "a.run", "--iterations", "6"], [says, f"--set {word[:17]}"]))
                self.succeed("resume", "a.run", "--iterations", "6", "--set", word)

    def test_a_setting_that_is_refused_does_not_stay_in_the_run(self):
        self.succeed("run", "task", "--iterations", "3", "--out", "a.run")
        self.fail_with(2, "resume", "a.run", "--iterations", "6", "--set", "seed=7", says=["seed"])
        self.succeed("resume", "a.run", "--iterations", "6")

    def test_a_key_in_a_variable_of_another_name_is_vouched_for(self):
        model = self.serve([reply(f"```\n{BETTER}```\n")])
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
        self.edit("b.run/run.yaml", str(self.folder / "a.run"), str(self.folder / "b.run"))
        self.edit("b.run/run.yaml", "live: false", "live: true")
        self.fail_with(2, "resume", "b.run", "--iterations", "9", says=["repeat each other"], code="bad_input")
        self.fail_with(2, "replay", "b.run", "--live", "--out", "c.run", says=["repeat each other"], code="bad_input")
        self.succeed("show", "b.run")


if __name__ == "__main__":
    unittest.main()
