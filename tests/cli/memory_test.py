"""`kernelsmith memory`: a run learnt twice, an export that another memory takes, and wrong use."""

import unittest

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

    def test_wrong_use_says_what_is_wrong(self):
        self.assertIn("no memory is there", self.memory("list", "nowhere", status=2))
        self.assertFalse((self.folder / "nowhere").exists())
        (self.folder / "bad").write_text("{}\n")
        self.assertIn("bad:1", self.memory("merge", "store", "bad", status=2))
        self.memory("learn", "store", "no.run", status=2)


if __name__ == "__main__":
    unittest.main()
