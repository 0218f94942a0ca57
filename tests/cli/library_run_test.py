"""A run folder that a program made which links the library: examples/link_library."""

import os
import subprocess
import unittest

from support import PATIENCE_S, CommandTest


class LibraryRunTest(CommandTest):
    def setUp(self):
        super().setUp()
        subprocess.run([os.environ["LINK_LIBRARY"], "hill.run"], cwd=self.folder, check=True, timeout=PATIENCE_S,
                       stdout=subprocess.DEVNULL)

    def test_show(self):
        text = self.succeed("show", "hill.run").stdout
        for part in ["begun by a program that links the library", "500 of 500 iterations", "ended (budget: iterations)",
                     "kernelsmith export hill.run", "lineage of the best"]:
            self.assertIn(part, text)
        shown = self.json("show", "hill.run")
        self.assertIsNone(shown["task"]["name"])
        self.assertGreater(shown["best"]["evaluation"]["fitness"], 9)
        self.assertEqual(shown["best"]["files"], [])
        self.assertEqual(shown["archive"]["filled"], 1)

    def test_export(self):
        lines = self.lines("export", "hill.run")
        self.assertEqual(lines[0]["type"], "run")
        best = self.json("show", "hill.run")["best"]["program"]
        source = next(line["source"] for line in lines if line["type"] == "program" and line["id"] == best)
        self.assertEqual(source[0]["path"], "point.txt")

    def test_what_needs_the_task_says_so(self):
        self.refused(*[([command, "hill.run"], ["no task folder", "`show` and `export` read it"], "not_found")
                       for command in ("resume", "replay", "prompt")])
        self.assertEqual([path.name for path in self.folder.iterdir()], ["hill.run"])


if __name__ == "__main__":
    unittest.main()
