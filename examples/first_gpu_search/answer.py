"""Answers the requests of `kernelsmith run --manual FOLDER` with ready-made replies, one after the other, as a person would who
copies each request to a model and its reply back.

    answer.py FOLDER REPLY...
"""

import pathlib
import sys
import time

folder = pathlib.Path(sys.argv[1])
for reply in map(pathlib.Path, sys.argv[2:]):
    while not (requests := sorted(folder.glob("*.request.json"))):
        time.sleep(0.1)
    number = requests[0].name.split(".")[0]
    part = folder / f"{number}.part"
    part.write_text(reply.read_text())
    part.rename(folder / f"{number}.reply.txt")  # at once, so that no half of it is read
    print(f"request {number}: answered with {reply.name}", flush=True)
    while requests[0].exists():
        time.sleep(0.1)
