"""Candidates a second of a warm search with many different candidates: a scripted model answers at once with the seed of
a task of examples/torch, its knobs set to other values and its kernel renamed. Needs a GPU.

    python3 -u benchmarks/torch_rate.py [--tasks FOLDER] [--seconds 40] [--workers 16] [--kernelsmith PROGRAM]
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from torch_variants import EXAMPLES, seeds, variants


class Model:
    """Answers each request of the Chat Completions interface with the next program."""

    def __init__(self, programs: Iterator[str]) -> None:
        lock = threading.Lock()

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                with lock:
                    text = next(programs)
                choice = {"message": {"content": f"```python\n{text}\n```"}, "finish_reason": "stop"}
                body = json.dumps({"choices": [choice], "usage": {"prompt_tokens": 1, "completion_tokens": 1}}).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def counts_of(chosen: argparse.Namespace, seed: pathlib.Path, run: str) -> tuple[dict, float]:
    """Searches the seed's task. What was counted, and the seconds that the search took without its preparation."""
    model = Model(variants(seed.read_text()))
    command = [chosen.kernelsmith, "run", seed.parent, "--out", run, "--time", f"{chosen.seconds}s", "--workers", chosen.workers,
               "--model", "scripted", "--base-url", model.url, "--set", f"proposer.concurrency={chosen.workers}",
               "--set", "limits.duels=0", "--set", "limits.confirm=false"]
    done = subprocess.run(list(map(str, command)), env={**os.environ, "OPENAI_API_KEY": "none"}, capture_output=True,
                          text=True, check=False)
    model.close()
    if done.returncode != 0:
        sys.exit(f"the search of {seed.parent.name} failed:\n{done.stderr[-2000:]}")
    shown = json.loads(subprocess.run([chosen.kernelsmith, "show", run, "--json"], capture_output=True, text=True,
                                      check=True).stdout)
    return shown["counts"], shown["budgets"]["wall_time_s"]["used"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=pathlib.Path, default=EXAMPLES, help="a folder of tasks with seeds")
    parser.add_argument("--seconds", type=int, default=40, help="of each search")
    parser.add_argument("--workers", type=int, default=16, help="evaluations in flight")
    parser.add_argument("--kernelsmith", default=shutil.which("kernelsmith"), help="the program, if PATH has none")
    chosen = parser.parse_args()
    if not chosen.kernelsmith or not shutil.which(chosen.kernelsmith):
        parser.error(f"there is no program {chosen.kernelsmith or 'kernelsmith on PATH'}: name one with --kernelsmith")
    if not seeds(chosen.tasks):
        parser.error(f"no task below {chosen.tasks} has a seed with a Triton kernel")
    with tempfile.TemporaryDirectory() as folder:
        for seed in seeds(chosen.tasks):
            counts, seconds = counts_of(chosen, seed, f"{folder}/{seed.parent.name}.run")
            candidates = counts["accepted"] + counts["rejected"]
            print(f"{seed.parent.name:24} {candidates} candidates ({counts['accepted']} accepted) in {seconds:.0f} s: "
                  f"{candidates / seconds:.2f}/s", flush=True)


if __name__ == "__main__":
    main()
