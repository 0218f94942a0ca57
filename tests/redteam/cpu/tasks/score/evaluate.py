"""Runs the candidate as a process of its own and scores what it gives: at most 1."""
import json
import subprocess
import sys

candidate, answer = sys.argv[1:]
program = "import runpy, sys; print(float(runpy.run_path(sys.argv[1])['value']()))"
run = subprocess.run([sys.executable, "-c", program, candidate], capture_output=True, text=True, check=True)
print(run.stdout)
value = float(run.stdout.splitlines()[-1])
with open(answer, "w") as file:
    json.dump({"fitness": value if 0 <= value <= 1 else 0.0}, file)
