"""What a model would be sent: `kernelsmith prompt` of tasks and of runs."""

import json
import unittest

from support import SCORE, TaskTest, wait_for, write_task


class PromptTest(TaskTest):
    def user(self, shown):
        self.assertEqual([message["role"] for message in shown["messages"]], ["system", "user"])
        return shown["messages"][1]["content"]

    def test_a_task_shows_its_seed_with_its_score(self):
        shown = self.json("prompt", "task")
        self.assertEqual((shown["operator"], shown["set"], shown["dropped"]), ("rewrite", "kernel-smith", []))
        self.assertIn("- fitness: 0", self.user(shown))
        self.assertIn("k5 = 0  # @tune 0 1 2 3 4 5 6 7", self.user(shown))
        done = self.succeed("prompt", "task")
        self.assertEqual(done.stdout, "--- system\n{}--- user\n{}".format(*(m["content"] for m in shown["messages"])))
        self.assertEqual(done.stderr, f"kernel-smith: about {shown['tokens']} tokens of 24000\n")

    def test_a_rejected_seed_is_shown_with_its_error(self):
        write_task(self.folder / "task", score_sh="echo the reason >&2; exit 3\n")
        shown = self.json("prompt", "task")
        self.assertEqual(shown["operator"], "translate")
        self.assertIn("rejected at run: command_failed", self.user(shown))
        self.assertIn("the reason", self.user(shown))

    def test_a_run_shows_what_comes_next_and_a_budget_leaves_out_the_least_useful(self):
        self.succeed("run", "task", "--iterations", "40", "--deterministic", "--out", "a.run")
        shown = self.json("prompt", "a.run")
        self.assertEqual(shown["operator"], "rewrite")
        self.assertGreater(shown["ticket"], 40)
        self.assertIn("## Top programs", self.user(shown))
        self.assertEqual(self.json("prompt", "a.run")["digest"], shown["digest"])
        self.assertIn("# Second parent", self.user(self.json("prompt", "a.run", "--operator", "crossover")))
        self.assertIn("<<<<<<< SEARCH", self.user(self.json("prompt", "a.run", "--operator", "edit")))
        self.fail_with(2, "prompt", "a.run", "--operator", "repair", says=["no rejected program", "name a RUN"],
                       code="not_found")
        whole = self.json("prompt", "a.run", "--budget", "0")
        self.assertIsNone(whole["budget"])
        budget = whole["tokens"] - 1
        shown = self.json("prompt", "a.run", "--budget", budget)
        self.assertLessEqual(shown["tokens"], budget)
        self.assertEqual(len(shown["dropped"]), 1)
        self.assertIn("the inspiration", shown["dropped"][0]["what"])
        done = self.succeed("prompt", "a.run", "--budget", "10")
        self.assertIn("left out: the inspiration", done.stderr)
        self.assertIn("a larger --budget is needed", done.stderr)
        self.assertIn("# Current program", done.stdout)

    def test_texts_of_the_user(self):
        own = self.folder / "own"
        (own / "kernel-smith").mkdir(parents=True)
        (own / "kernel-smith/role.mustache").write_text("You are the smith of {{task.name}}.\n")
        shown = self.json("prompt", "task", "--prompts", "own")
        self.assertTrue(shown["messages"][0]["content"].startswith("You are the smith of hill.\n"))
        (own / "kernel-smith/role.mustache").write_text("{{> role}}")
        self.fail_with(2, "prompt", "task", "--prompts", "own", says=["role.mustache:1", "nest deeper"], code="bad_input")
        (own / "kernel-smith/role.mustache").write_text("\n{{#role}}")
        self.fail_with(2, "prompt", "task", "--prompts", "own", says=["role.mustache:2", "no end"], code="bad_input")
        (own / "kernel-smith/role.mustache").unlink()
        (own / "kernel-smith/rol.mustache").write_text("x")
        (own / "mine").mkdir()
        (own / "mine/role.mustache").write_text("x")
        done = self.succeed("prompt", "task", "--prompts", "own")
        self.assertIn("warning: own/kernel-smith/rol.mustache is not used", done.stderr)
        self.assertIn("warning: own/mine/role.mustache is not used", done.stderr)
        self.assertNotIn("warning", self.succeed("prompt", "task", "--prompts", "own", "--set", "mine").stderr
                         .replace("warning: own/kernel-smith/rol.mustache", ""))
        (self.folder / "none").mkdir()
        self.assertIn("holds no template", self.succeed("prompt", "task", "--prompts", "none").stderr)
        self.fail_with(2, "prompt", "task", "--prompts", "absent", says=["absent"], code="not_found")

    def test_a_run_shows_its_own_texts(self):
        own = self.folder / "own" / "mine"
        own.mkdir(parents=True)
        (own / "role.mustache").write_text("You are the smith of {{task.name}}.\n")
        (self.folder / "own.yaml").write_text(
            "proposer: {kind: manual, folder: queue, prompts: {set: mine, folder: own, budget_tokens: 7000}}\n")
        shown = self.json("prompt", "task", "--config", "own.yaml")
        self.assertEqual((shown["set"], shown["budget"]), ("mine", 7000))
        self.assertTrue(shown["messages"][0]["content"].startswith("You are the smith of hill.\n"))
        process = self.begin("run", "task", "--config", "own.yaml", "--out", "a.run", "--iterations", "1")
        wait_for(lambda: list((self.folder / "queue").glob("*.request.json")), "the request")
        (request,) = (self.folder / "queue").glob("*.request.json")
        sent = json.loads(request.read_text())["messages"]
        process.terminate()
        process.communicate()
        shown = self.json("prompt", "a.run")
        self.assertEqual((shown["set"], shown["budget"]), ("mine", 7000))
        self.assertEqual(shown["messages"][0]["content"], sent[0]["content"])
        other = self.json("prompt", "a.run", "--set", "relaxed", "--budget", "9000")
        self.assertEqual((other["set"], other["budget"]), ("relaxed", 9000))

    def test_any_rejected_program_of_a_run_can_be_shown_as_a_repair(self):
        picky = SCORE.replace("sum=0", 'sum=0; grep -q "k0 = [1-7]" "$1" && exit 3', 1)
        write_task(self.folder / "task", score_sh=picky)
        self.succeed("run", "task", "--iterations", "40", "--deterministic", "--out", "a.run", "--set",
                     "sampler.failures=0")
        repair = self.json("prompt", "a.run", "--operator", "repair")
        self.assertIn("rejected at run", self.user(repair))
        self.assertIn("why the current program was rejected", self.user(repair))
        self.assertNotIn("what limits the current program", self.user(repair))
        self.assertIn("`tile = 64  # @tune", repair["messages"][0]["content"], "no C++ if the task is no kernel")

    def test_a_kernel_is_shown_the_header_it_is_built_with(self):
        self.succeed("init", "kernel")
        shown = self.json("prompt", "kernel", "--set", "relaxed")
        self.assertIn("`task.hpp`", self.user(shown))
        self.assertIn("speedup over the baseline", self.user(shown))
        self.assertIn("# Rules", shown["messages"][0]["content"])

    def test_wrong_words(self):
        self.refused((["prompt", "task", "--set", "kernelsmith"], ["no prompt set kernelsmith", "kernel-smith"]),
                     (["prompt", "task", "--operator", "tune"], ["tune", "--operator"]),
                     (["prompt", "task", "--operator", "rewrit"], "did you mean rewrite?"),
                     (["prompt", "nowhere"], "nowhere", "not_found"))


if __name__ == "__main__":
    unittest.main()
