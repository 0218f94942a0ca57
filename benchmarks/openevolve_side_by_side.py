"""OpenEvolve 0.4.1 and `kernelsmith openevolve` on the same task, one after the other, with the same scripted model.

    python benchmarks/openevolve_side_by_side.py --openevolve VENV/bin/python [--iterations 100 1000] [--rounds 3]

VENV has openevolve==0.4.1; this interpreter has kernelsmith with PyYAML. The model is an HTTP server that answers at once with a
program that is new; the evaluator takes 5 ms, two run at a time. Prints a Markdown table of medians. Speed is over a whole run, less
the time that a run of one iteration takes; memory is the largest sum of the processes' proportional sizes (PSS) in the longest run;
acting on a limit is how long one candidate that sleeps for 20 s under a limit of 1 s holds up the command, beyond one that does not.
"""

import argparse
import http.server
import json
import multiprocessing
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

PROGRAM = "# EVOLVE-BLOCK-START\nVALUE = 1  # 0\n# EVOLVE-BLOCK-END\n" + "# padding, so that programs are not tiny\n" * 50
EVALUATOR = """\
import runpy, time

def evaluate(program_path):
    value = runpy.run_path(program_path)["VALUE"]
    time.sleep(SLEEP if value > 1 else 0.005)
    return {"combined_score": value * 61 % 97 / 97}
"""
CONFIG = """\
checkpoint_interval: 1000000
log_level: ERROR
diff_based_evolution: false
llm: {{primary_model: scripted, api_base: "{url}", api_key: none-needed, retries: 0}}
evaluator: {{timeout: {limit}, cascade_evaluation: false, parallel_evaluations: 2, max_retries: 0}}
"""


def serve(pipe):
    """Answers each call with a program that no other call got."""
    count = iter(range(2, 1 << 60))
    lock = threading.Lock()

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            with lock:
                number = next(count)
            text = "```python\n" + PROGRAM.replace("1  # 0", f"{number}  # {number}") + "```"
            body = json.dumps({"id": "1", "object": "chat.completion", "created": 0, "model": "scripted", "choices": [
                {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}]}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    pipe.send(server.server_address[1])
    server.serve_forever()


def family(root):
    """The process and its descendants."""
    parents = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                parents[int(entry)] = int(Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()[1])
            except (OSError, ValueError, IndexError):
                pass
    found, fresh = {root}, {root}
    while fresh:
        fresh = {child for child, parent in parents.items() if parent in fresh} - found
        found |= fresh
    return found


def size_mb(processes):
    total = 0
    for process in processes:
        try:
            for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    total += int(line.split()[1])
        except OSError:
            pass
    return total / 1024


def run(command, folder):
    """Seconds and the largest size in MB of a command that must succeed."""
    with open(folder / "output.txt", "w") as output:
        begun = time.monotonic()
        process = subprocess.Popen(command, stdout=output, stderr=output, cwd=folder)
        largest = 0.0
        while process.poll() is None:
            largest = max(largest, size_mb(family(process.pid)))
            time.sleep(0.1)
        seconds = time.monotonic() - begun
    if process.returncode != 0:
        raise SystemExit(f"{command} ended with {process.returncode}:\n" + (folder / "output.txt").read_text()[-3000:])
    return seconds, largest


class Subject:
    def __init__(self, name, command, url):
        self.name, self._command, self._url = name, command, url

    def run(self, iterations, sleep=0.005, limit=60):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "program.py").write_text(PROGRAM)
            (folder / "evaluator.py").write_text(EVALUATOR.replace("SLEEP", str(sleep)))
            (folder / "config.yaml").write_text(CONFIG.format(url=self._url, limit=limit))
            return run([*self._command, "program.py", "evaluator.py", "-c", "config.yaml", "-o", "out", "-i", str(iterations)],
                       folder)

    def measured(self, lengths, rounds):
        """Iterations per second for each length, MB, seconds to act on the limit: medians over the rounds."""
        speeds, sizes, acts = {length: [] for length in lengths}, [], []
        for _ in range(rounds):
            start = self.run(1)[0]
            acts.append(self.run(1, sleep=20, limit=1)[0] - start)
            for length in lengths:
                seconds, size = self.run(length)
                speeds[length].append((length - 1) / max(1e-3, seconds - start))
            sizes.append(size)
        return [statistics.median(speeds[length]) for length in lengths], statistics.median(sizes), statistics.median(acts)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--openevolve", required=True, help="an interpreter with openevolve==0.4.1")
    parser.add_argument("--iterations", type=int, nargs="+", default=[100, 1000])
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.Process(target=serve, args=(theirs,), daemon=True)
    server.start()
    url = f"http://127.0.0.1:{ours.recv()}/v1"
    subjects = [Subject("OpenEvolve 0.4.1", [options.openevolve, "-m", "openevolve.cli"], url),
                Subject("kernelsmith openevolve", [sys.executable, "-m", "kernelsmith", "openevolve"], url)]
    columns = [f"iterations/s over {length}" for length in options.iterations]
    print("| | " + " | ".join([*columns, "peak memory, MB", "to act on a limit of 1 s, s"]) + " |")
    print("|---" * (len(columns) + 3) + "|")
    for subject in subjects:
        speeds, size, act = subject.measured(options.iterations, options.rounds)
        figures = [*(f"{speed:.0f}" for speed in speeds), f"{size:.0f}", f"{act:.1f}"]
        print(f"| {subject.name} | {' | '.join(figures)} |", flush=True)
    server.terminate()


if __name__ == "__main__":
    main()
