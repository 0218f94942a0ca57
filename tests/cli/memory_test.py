"""`kernelsmith memory`: a run learnt twice, an export that another memory takes, a model that is shown
rules, and wrong use."""

import json
import unittest

from model_run_test import KEY, Model, program, reply
from support import CommandTest, kernelsmith, write_task


class MemoryTest(CommandTest):
    def memory(self, *words, status=0):
        done = kernelsmith("memory", *words, cwd=self.folder)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def learn(self):
        write_task(self.folder / "task")
        done = kernelsmith("run", "task", "--out", "a.run", "--iterations", "30", cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.memory("learn", "store", "a.run")

    def test_a_run_learnt_twice_adds_nothing(self):
        self.assertNotIn(" 0 new", self.learn())
        file = self.folder / "store/rules.jsonl"
        once = file.read_bytes()
        self.assertIn('"kind":"tactic"', once.decode())
        self.assertIn(" 0 new", self.memory("learn", "store", "a.run"))
        self.assertEqual(file.read_bytes(), once)

    def test_an_export_makes_an_equal_memory(self):
        self.learn()
        (self.folder / "export").write_text(self.memory("export", "store"))
        self.memory("merge", "other", "export")
        self.assertEqual((self.folder / "other/rules.jsonl").read_bytes(), (self.folder / "store/rules.jsonl").read_bytes())

    def test_a_rule_is_shown_and_forgotten(self):
        self.learn()
        rule = self.memory("list", "store").split()[0]
        self.assertIn("program ", self.memory("show", "store", rule))
        self.memory("forget", "store", rule)
        self.assertIn("not_found", self.memory("show", "store", rule, status=2))
        self.assertNotIn(rule, self.memory("list", "store"))

    def test_a_model_is_shown_what_an_earlier_run_taught(self):
        write_task(self.folder / "task")
        memory = ("--set", "memory.store=store")
        first = kernelsmith("run", "task", "--out", "a.run", "--iterations", "30", *memory, cwd=self.folder)
        self.assertEqual(first.returncode, 0, first.stderr)
        self.assertIn("rules from the run", first.stderr)
        once = (self.folder / "store/rules.jsonl").read_bytes()
        self.assertIn(" 0 new", self.memory("learn", "store", "a.run"))
        self.assertEqual((self.folder / "store/rules.jsonl").read_bytes(), once)

        model = Model([reply(f"```\n{program(7, 7, 7, 7, 7, 7)}```\n")])
        self.addCleanup(model.close)
        second = kernelsmith("run", "task", "--out", "b.run", "--iterations", "3", "--workers", "1", "--model", "m",
                             "--base-url", model.url, *memory, cwd=self.folder, env={"OPENAI_API_KEY": KEY})
        self.assertEqual(second.returncode, 0, second.stderr)
        sent = json.dumps(model.requests[0][1])
        read = [json.loads(line) for line in (self.folder / "b.run/memory.jsonl").read_text().splitlines()]
        self.assertTrue(read)
        for rule in read:
            self.assertIn(f"{rule['kind']} {rule['id']} (", sent)
            self.assertIn("shown to 1 run", self.memory("show", "store", rule["id"]))
        again = kernelsmith("replay", "b.run", "--keep-evaluations", "--out", "c.run", cwd=self.folder)
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertEqual((self.folder / "c.run/memory.jsonl").read_bytes(), (self.folder / "b.run/memory.jsonl").read_bytes())
        self.assertIn("repeats another", self.memory("learn", "store", "c.run", status=2))

    def test_wrong_use_says_what_is_wrong(self):
        self.assertIn("no memory is there", self.memory("list", "nowhere", status=2))
        self.assertFalse((self.folder / "nowhere").exists())
        (self.folder / "bad").write_text("{}\n")
        self.assertIn("bad:1", self.memory("merge", "store", "bad", status=2))
        self.memory("learn", "store", "no.run", status=2)


if __name__ == "__main__":
    unittest.main()
