"""Kills a run whose model is paid for with SIGKILL in mid-call, at random moments, and resumes it each time.

    kill_paid.py [--kills N] [--seed N]          (with KERNELSMITH in the environment)

A server behind TLS answers with numbered programs and remembers which answers it sent in full, and when. Checked at the
end: no answer is in the journal twice, and every answer that had arrived when the run was killed is there, which is to
say that it was not bought again. An answer has arrived when its last byte was sent GRACE_S before the kill: a busy
machine may need a moment to read it, and time in which the machine stood still does not count. How old the oldest
answer was that a kill destroyed is printed. At last the run must replay to the same archive with the model gone.
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

from scripted_server import ScriptedServer
from support import Beats, finish, kernelsmith, start, wait_for, write_task

CALLS_IN_FLIGHT = 8
LONGEST_LIFE_S = 1.5
GRACE_S = 1.0
KEY = {"OPENAI_API_KEY": "sk-planted-key-0123456789"}


def journalled(run):
    """The numbers of the answers that the journal holds, in its order."""
    database = sqlite3.connect(f"file:{run}/run.db?mode=ro", uri=True)
    verdict = database.execute("PRAGMA integrity_check").fetchall()
    if verdict != [("ok",)]:
        sys.exit(f"the database is damaged: {verdict}")
    bodies = [json.loads(body) for (body,) in database.execute("SELECT body FROM events ORDER BY position")]
    database.close()
    return [body["proposal"]["cost"]["input_tokens"] for body in bodies
            if body["event"] == "proposal_arrived" and body["proposal"]["cost"]["input_tokens"]]


def one_life(server, clock, command, moments, kill):
    """Lets the run live until a few more answers were sent and a random while, and ends it. Returns when."""
    server.begin_life()
    process = start(*command, env=KEY)
    goal = len(server.answered) + CALLS_IN_FLIGHT
    wait_for(lambda: len(server.answered) >= goal or process.poll() is not None, "answers")
    time.sleep(LONGEST_LIFE_S * moments.random())
    ended = clock.now_s()
    if kill:
        process.kill()
    else:
        process.send_signal(signal.SIGINT)
    _, stderr = finish(process)
    if process.returncode != (-signal.SIGKILL if kill else 130):
        sys.exit(f"the run ended by itself with status {process.returncode}: {stderr}")
    return ended


def check_replay(run, again):
    """What was killed so often replays to its archive, with the model gone."""
    done = kernelsmith("replay", run, "--keep-evaluations", "--out", again)
    digests = [json.loads(kernelsmith("show", folder, "--json").stdout)["archive"]["digest"] for folder in (run, again)]
    if done.returncode != 0 or digests[0] != digests[1]:
        sys.exit(f"the replay ended with status {done.returncode} and archive {digests[1]}, not {digests[0]}: "
                 f"{done.stderr}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    moments = random.Random(options.seed)
    with tempfile.TemporaryDirectory(prefix="kernelsmith-paid-") as name:
        folder = Path(name)
        clock = Beats()
        server = ScriptedServer(folder, clock.now_s, seed=options.seed)
        run = folder / "a.run"
        begin = ["run", write_task(folder / "task"), "--out", run, "--iterations", "1000000", "--workers", "1",
                 "--model", "scripted", "--base-url", server.url, "--set", f"proposer.ca_file={server.certificate}",
                 "--set", f"proposer.concurrency={CALLS_IN_FLIGHT}"]
        recovered = certain = recent = 0
        lost_ages = []
        counted, promised = set(), set()
        for life in range(options.kills + 1):
            died = one_life(server, clock, begin if life == 0 else ["resume", run], moments, kill=life < options.kills)
            answered = {number: moment for number, (of_life, moment) in list(server.answered.items())
                        if of_life == server.life and moment <= died}
            on_the_way = {json.loads(path.read_text())["cost"]["input_tokens"]
                          for path in (run / "arrived").glob("*.json")}
            told = journalled(run)
            if len(set(told)) != len(told):
                sys.exit("an answer is in the journal twice")
            recovered += len(on_the_way - set(told))
            have = on_the_way | set(told)
            promised |= have
            for number in answered:
                age = died - answered[number]
                certain += age >= GRACE_S
                recent += age < GRACE_S
                if number not in have:
                    lost_ages.append(age)
                    if age >= GRACE_S:
                        sys.exit(f"answer {number} had arrived {age:.3f} s before the kill, and is lost")
            counted |= answered.keys()
        told = journalled(run)
        if promised - set(told):
            sys.exit(f"answers {sorted(promised - set(told))} were kept, and are not in the journal")
        left = list((run / "arrived").glob("*"))
        if left:
            sys.exit(f"a run that ended in order left {left}")
        server.close()
        check_replay(run, folder / "again.run")
        oldest = max(lost_ages, default=0)
        print(f"{options.kills} kills, {server.asked} calls, {len(counted)} answered in full while the run lived, "
              f"{len(told)} journalled, none twice; {recovered} were taken over from arrived/. Among {certain} answers "
              f"older than {GRACE_S:g} s at a kill none was lost, of {recent} younger ones {len(lost_ages)}, the "
              f"oldest of them {1000 * oldest:.0f} ms old")


if __name__ == "__main__":
    main()
