"""Patches of cases: what they give, what is refused, and that `shorten` makes one that gives the whole."""

import os
import tempfile
import unittest
from pathlib import Path

from cases import Unreadable, all_of, main, whole

HONEST = "// redteam: honest\n// tries: nothing\n\nint a() {\n  return 1;\n}\n\nint b() {\n  return 1;\n}\n"
DECLARED = "// redteam: neutralised\n// twin: honest\n// tries: two\n"


class Cases(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.write("t/honest.cpp", HONEST)

    def write(self, path, text):
        (self.root / path).parent.mkdir(exist_ok=True)
        (self.root / path).write_text(text, encoding="utf-8")
        return self.root / path

    def body(self, changes, declared=DECLARED):
        text = whole(self.write("t/trick.cpp.patch", f"{declared}\n{changes}"))
        self.assertTrue(text.startswith(DECLARED + "\n"))
        return text.removeprefix(DECLARED + "\n")

    def test_changes_stand_where_their_lines_do(self):
        self.assertEqual(self.body(" int b() {\n-  return 1;\n+  return 2;\n\n int a() {\n+  int c;\n"),
                         "int a() {\n  int c;\n  return 1;\n}\n\nint b() {\n  return 2;\n}\n")

    def test_a_base_may_be_a_patch_and_of_another_task(self):
        self.body("-int a() {\n+int c() {\n")
        declared = DECLARED + "// base: t/trick\n"
        text = whole(self.write("u/more.cpp.patch", f"{declared}\n-int c() {{\n+int d() {{\n"))
        self.assertEqual(text, DECLARED + HONEST[HONEST.index("\n\n") + 1:].replace("a()", "d()"))

    def test_what_does_not_apply_is_refused(self):
        for changes in ("-int z() {\n",  # not there
                        "-  return 1;\n",  # twice
                        "+int c;\n",  # nowhere
                        " int a() {\n-  return 1;\n\n-  return 1;\n }\n\n",  # the second of them is there twice
                        " int a() {\n-  return 1;\n\n-int a() {\n",  # both have the same line
                        "int c;\n"):  # no sign
            with self.subTest(changes), self.assertRaises(Unreadable):
                self.body(changes)
        with self.assertRaises(Unreadable):
            self.body("-int a() {\n", DECLARED + "// base: missing\n")
        self.write("t/trick.cpp", HONEST)
        with self.assertRaises(Unreadable):
            all_of(self.root)

    def test_shorten_gives_the_whole_again(self):
        text = DECLARED + "\nint a() {\n  return 1;\n}\n\nint b() {\n  return 2;\n}\n\n\nint c;\n"
        path = self.write("t/trick.cpp", text)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(path.parent)
        main("shorten", path.name)
        self.assertFalse(path.exists())
        self.assertEqual(all_of(self.root)["t/trick.cpp"], text)
        self.assertIn("-  return 1;\n+  return 2;\n", (self.root / "t/trick.cpp.patch").read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main()
