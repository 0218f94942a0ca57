"""What run_readme.py says of pages with a fault in them, and of pages without one."""

import os
import pathlib
import tempfile
import types
import unittest

import run_readme


class Reader(run_readme.Reader):
    """Its commands have one help."""

    def help(self, *words):
        assert words[1] != "fly", "unknown command fly"
        return "--time --out"


class Pages(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.source = pathlib.Path(folder.name).resolve()
        for name in ("docs", "examples/softmax", "scripts", "clone"):
            (self.source / name).mkdir(parents=True)
        (self.source / "pyproject.toml").write_text("[project.optional-dependencies]\nplot = []\n")
        (self.source / "scripts/wheel.sh").write_text("case $1 in --fast)")

    def faults(self, *pages):
        """One for each command that is wrong."""
        reader = Reader(types.SimpleNamespace(source=self.source, long=False), self.source / "clone", dict(os.environ))
        for number, text in enumerate(pages):
            page = self.source / f"docs/{number}.md"
            page.write_text(text)
            reader.read(page)
        return len(reader.faults)

    def test_a_line_ends_as_its_page_says(self):
        self.assertEqual(self.faults("```sh\nfalse\ntrue\ntrue  # exit 1\n```\n"), 2)
        self.assertEqual(self.faults("```sh\ntrue\nfalse  # exit 1\n```\n"), 0)

    def test_cd_and_export_hold_for_the_rest_of_the_page(self):
        set_up = "```sh\nmkdir -p a\ncd a\nexport B=c\n```\n"
        here = "```sh\ntest $B = c -a $(basename $PWD) = a\n```\n"
        self.assertEqual(self.faults(set_up + here, "```sh\ntest -d a -a -z \"$B\"\n```\n"), 0)

    def test_what_a_page_makes_no_other_page_makes(self):
        page = "```sh gpu\nkernelsmith {}\n```\n"
        for line in ("run TASK --out my.run", "init my_task"):
            self.assertEqual(self.faults(page.format(line), page.format(line)), 1)
        self.assertEqual(self.faults(page.format("init a"), "`kernelsmith init b`", *2 * ["`kernelsmith init DIR`"]), 0)

    def test_lines_that_cannot_be_run_are_parsed(self):
        for place in ("```sh gpu\n{}\n```\n", "Use `{}`.", "```text\n$ {}\n9 seconds\n```\n"):
            self.assertEqual(self.faults(place.format("kernelsmith run examples/softmax --time 9s")), 0)
            for wrong in ("kernelsmith run examples/softmax --times 9s", "kernelsmith run examples/hardmax", "kernelsmith fly"):
                self.assertEqual(self.faults(place.format(wrong)), 1, wrong)
        self.assertEqual(self.faults("```sh\nkernelsmith run TASK [--time 9s]\n```\n`scripts/wheel.sh --fast`"), 0)
        self.assertEqual(self.faults("```sh\nkernelsmith run TASK [--times 9s]\n```\n`scripts/wheel.sh --slow`"), 2)

    def test_pip_installs_what_is_there(self):
        page = "```sh\npip install '{}'\n```\n"
        for what, wrong in {".": 0, ".[plot]": 0, "trl==1.16.0": 0, ".[plots]": 1, "kernelsmith-engine[plot]": 1}.items():
            self.assertEqual(self.faults(page.format(what)), wrong, what)

    def test_no_command_hides_in_another_block(self):
        self.assertEqual(self.faults("```text\nkernelsmith run TASK\n```\n", "```\npip install .\n```\n"), 2)
        with self.assertRaisesRegex(AssertionError, "gpus"):
            self.faults("```sh gpus\ntrue\n```\n")

    def test_every_page_is_in_the_index(self):
        (self.source / "docs/README.md").write_text("[a](a.md), [examples](../examples/README.md)")
        (self.source / "docs/a.md").touch()
        self.assertEqual([page.name for page in run_readme.pages(self.source)], ["README.md", "a.md", "README.md"])
        (self.source / "docs/b.md").touch()
        with self.assertRaisesRegex(AssertionError, "b.md"):
            run_readme.pages(self.source)


if __name__ == "__main__":
    unittest.main()
