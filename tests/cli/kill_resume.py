"""Kills a run with SIGKILL at random moments and resumes it each time.

    kill_resume.py [--kills N] [--seed N]          (with KERNELSMITH in the environment)

Checked after every kill: the database is intact (PRAGMA integrity_check), no evaluation that was reported is lost or
changed, none is there twice. At the end the run is stopped in order, and the archive that it ended with must equal
the replay of its journal. Prints what it did; exits with status 1 at the first fault.
"""

import argparse
import json
import random
import signal
import sqlite3
import sys
import tempfile
import time
from pathlib import Path

from support import finish, kernelsmith, start, write_task

LONGEST_LIFE_S = 0.6


def begin(task, run):
    """A run that is being written, however long that takes here: without its folder there is nothing to resume."""
    process = start("run", task, "--out", run, "--iterations", "1000000")
    process.stderr.readline()  # "task hill, ..."
    process.stderr.readline()  # the first best
    return process


def die(process, life_s):
    """Kills the process, which must be alive then."""
    time.sleep(life_s)
    process.kill()
    _, stderr = process.communicate()
    if process.returncode != -signal.SIGKILL:
        sys.exit(f"the run ended by itself with status {process.returncode}: {stderr}")


def check_database(run):
    verdict = sqlite3.connect(f"file:{run}/run.db?mode=ro", uri=True).execute("PRAGMA integrity_check").fetchall()
    if verdict != [("ok",)]:
        sys.exit(f"the database is damaged: {verdict}")


def read_told(run):
    """Every evaluation of the journal, by its ticket."""
    exported = kernelsmith("export", run)
    if exported.returncode != 0:
        sys.exit(f"export failed: {exported.stderr}")
    told = {}
    attempts = set()
    for line in map(json.loads, exported.stdout.splitlines()):
        if line["type"] != "evaluation":
            continue
        attempt = (line["program"], line["attempt"])
        if line["ticket"] in told or attempt in attempts:
            sys.exit(f"told twice: ticket {line['ticket']}, program and attempt {attempt}")
        told[line["ticket"]] = line
        attempts.add(attempt)
    return told


def check_nothing_lost(before, after):
    for ticket, line in before.items():
        if after.get(ticket) != line:
            sys.exit(f"ticket {ticket} was told and is lost or changed: {line} became {after.get(ticket)}")


def check_final_archive(run):
    process = start("resume", run)
    process.stderr.readline()  # "run ..., preparing": signals are handled from here on
    time.sleep(LONGEST_LIFE_S)
    process.send_signal(signal.SIGINT)
    out, err = finish(process)
    if process.returncode != 130:
        sys.exit(f"the last session ended with status {process.returncode}: {err}")
    ended_with = out.split("digest ")[1].split()[0]
    replayed = json.loads(kernelsmith("show", run, "--json").stdout)["archive"]["digest"]
    if not replayed.startswith(ended_with):
        sys.exit(f"the run ended with archive {ended_with}, its journal's replay gives {replayed}")
    return replayed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    moments = random.Random(options.seed)
    with tempfile.TemporaryDirectory(prefix="kernelsmith-kill-") as folder:
        run = Path(folder) / "a.run"
        task = write_task(Path(folder) / "task")
        told = {}
        for kill in range(options.kills):
            process = begin(task, run) if kill == 0 else start("resume", run)
            die(process, LONGEST_LIFE_S * moments.random())
            check_database(run)
            after = read_told(run)
            check_nothing_lost(told, after)
            told = after
        digest = check_final_archive(run)
        print(f"{options.kills} kills, {len(told)} evaluations told, none lost, none doubled; archive {digest}")


if __name__ == "__main__":
    main()
