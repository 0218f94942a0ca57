"""A run folder that somebody deletes, or half of it, while it is written."""

import re
import shutil
import unittest
from pathlib import Path

from support import TaskTest, finish, wait_for


class LostRunTest(TaskTest):
    def test_the_best_of_a_run_whose_folder_is_deleted_is_saved(self):
        run = self.folder / "a.run"
        process = self.begin("run", "task", "--out", "a.run", "--iterations", "1000000")
        wait_for(lambda: any((run / "best").glob("seed.txt")), "a best program")
        # A writer may make a file meanwhile, and then a folder is not empty.
        wait_for(lambda: shutil.rmtree(run, ignore_errors=True) or not run.exists(), "an absent folder")
        out, err = finish(process)
        self.assertEqual(process.returncode, 3, out + err)
        self.assertNotIn("kernelsmith resume", out + err)
        saved = Path(re.search(r"saved in (\S+?)(;|$)", err, re.MULTILINE)[1])
        self.assertEqual(saved, self.folder / "a.run.rescued")
        self.assertIn("@tune", (saved / "seed.txt").read_text())
        self.assertTrue((saved / "report.json").is_file())
        self.assertFalse(run.exists())


if __name__ == "__main__":
    unittest.main()
