"""A run folder that somebody deletes, or half of it, while it is written."""

import re
import shutil
import unittest
from pathlib import Path

from support import CommandTest, finish, wait_for, write_task


class LostRunTest(CommandTest):
    def setUp(self):
        super().setUp()
        write_task(self.folder / "task")
        self.run_folder = self.folder / "a.run"
        self.process = self.begin("run", "task", "--out", "a.run", "--iterations", "1000000")
        wait_for(lambda: any((self.run_folder / "best").glob("seed.txt")), "a best program")

    def end(self):
        out, err = finish(self.process)
        return self.process.returncode, out, err

    def expect_rescue(self):
        status, out, err = self.end()
        self.assertEqual(status, 3, out + err)
        self.assertNotIn("kernelsmith resume", out + err)
        saved = Path(re.search(r"saved in (\S+?)(;|$)", err, re.MULTILINE)[1])
        self.assertEqual(saved, self.folder / "a.run.rescued")
        self.assertIn("@tune", (saved / "seed.txt").read_text())
        self.assertTrue((saved / "report.json").is_file())

    def test_the_folder_is_deleted(self):
        # A writer may make a file meanwhile, and then a folder is not empty.
        wait_for(lambda: shutil.rmtree(self.run_folder, ignore_errors=True) or not self.run_folder.exists(),
                 "an absent folder")
        self.expect_rescue()
        self.assertFalse(self.run_folder.exists())

    def test_the_database_is_deleted(self):
        (self.run_folder / "run.db").unlink()
        self.expect_rescue()

    def test_without_its_lock_file_a_second_writer_is_refused(self):
        (self.run_folder / "run.lock").unlink()
        self.fail_with(2, "resume", "a.run", says=["in use by another process"], code="busy")
        self.assertTrue(self.json("show", "a.run")["in_use"])
        self.process.terminate()
        self.assertEqual(self.end()[0], 130)
        self.succeed("show", "a.run")


if __name__ == "__main__":
    unittest.main()
