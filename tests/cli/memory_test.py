"""`kernelsmith memory`: a run learnt twice, an export that another memory takes, a model that is shown
rules, and wrong use."""

import json
import unittest

from model import WINNER, ModelTest, reply


class MemoryTest(ModelTest):
    def memory(self, *words, status=0):
        done = self.ends(status, "memory", *words)
        return done.stdout + done.stderr

    def rules(self, store="store"):
        return (self.folder / store / "rules.jsonl").read_bytes()

    def test_a_run_teaches_once_and_a_model_is_shown_it(self):
        store = ("--set", "memory.store=store")
        first = self.succeed("run", "task", "--out", "a.run", "--iterations", "30", *store)
        self.assertIn("rules from the run", first.stderr)
        once = self.rules()
        self.assertIn('"kind":"tactic"', once.decode())
        self.assertNotIn(" 0 new", self.memory("learn", "by-hand", "a.run"))
        self.assertIn(" 0 new", self.memory("learn", "store", "a.run"))
        self.assertEqual(self.rules(), once)

        model = self.serve([reply(f"```\n{WINNER}```\n")])
        self.succeed("run", "task", "--out", "b.run", "--iterations", "3", "--workers", "1", *self.asking(model), *store)
        sent = json.dumps(model.requests[0][1])
        read = [json.loads(line) for line in (self.folder / "b.run/memory.jsonl").read_text().splitlines()]
        self.assertTrue(read)
        for rule in read:
            self.assertIn(f"{rule['kind']} {rule['id']} (", sent)
            self.assertIn("shown to 1 run", self.memory("show", "store", rule["id"]))
        self.succeed("replay", "b.run", "--keep-evaluations", "--out", "c.run")
        self.assertEqual((self.folder / "c.run/memory.jsonl").read_bytes(), (self.folder / "b.run/memory.jsonl").read_bytes())
        self.assertIn("repeats another", self.memory("learn", "store", "c.run", status=2))

        (self.folder / "export").write_text(self.memory("export", "store"))
        self.memory("merge", "other", "export")
        self.assertEqual(self.rules("other"), self.rules())
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
