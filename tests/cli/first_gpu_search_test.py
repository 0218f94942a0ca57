"""scripts/first-gpu-search.sh on a stand-in of PyTorch: a search of two replies, and plain PyTorch, for which there is no GPU."""

import os
import subprocess
import unittest
from pathlib import Path

from support import KERNELSMITH, CommandTest

SOURCE = Path(__file__).resolve().parents[2]


class FirstGpuSearch(CommandTest):
    def test_the_second_reply_is_the_best_and_its_knob_is_tuned_at_once(self):
        for name, us in (("first", 900), ("second", 250)):
            text = (SOURCE / f"examples/first_gpu_search/{name}.reply.txt").read_text()
            (self.folder / f"{name}.reply.txt").write_text(text.replace("import torch\n", f'# script: {{"us": {us}}}\nimport torch\n', 1))
        environment = {**os.environ, "PATH": f"{Path(KERNELSMITH).parent}:{os.environ['PATH']}", "REPLIES": str(self.folder),
                       "KERNELSMITH_TORCH_PYTHON_DIR": os.environ["KERNELSMITH_FAKE_TORCH"]}
        done = subprocess.run([SOURCE / "scripts/first-gpu-search.sh", self.folder / "out"], env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        for part in ("request 000000: answered with first.reply.txt", "request 000001: answered with second.reply.txt",
                     "they have 4 in all",
                     "speedup  4.00x", "best      program 1, 4.00x", "3.6 times its parent", "what limits the best now",
                     "sees no GPU"):
            self.assertIn(part, done.stdout)


if __name__ == "__main__":
    unittest.main()
