"""The messages of docs/torch-plan.md, and the ways to break them off that a script can name."""

import json
import os
import struct
import sys
import time

HEAD = struct.Struct("<IQ")


class Failure(Exception):
    pass


def fail(fault, code, message, stage="run", where="", hint=""):
    raise Failure({"fault": fault, "stage": stage, "code": code, "message": message, "where": where, "hint": hint})


def script_of(text):
    """The script is the text, or in a module of Python the line `# script: {...}`, if there is one."""
    try:
        return json.loads(text)
    except ValueError:
        lines = [line for line in text.splitlines() if line.startswith("# script: ")]
        return json.loads(lines[0][len("# script: "):]) if lines else {}


def misbehave(how):
    """What a script says of a request: nothing, or how it ends. Some never return."""
    if how is None:
        return
    if how == "die":
        print("a last word", file=sys.stderr, flush=True)
        os._exit(3)
    if how == "hang":
        if "FAKE_HANGS" in os.environ:
            open(os.environ["FAKE_HANGS"], "w").close()
        time.sleep(60)
    if how == "garbage":
        os.write(1, b"\xff" * 64)
        time.sleep(60)
    if how == "no_json":
        send({}, raw=b"[1, 2")
        time.sleep(60)
    if isinstance(how, dict):
        raise Failure(how)


def send(reply, blob=b"", raw=None):
    text = json.dumps(reply).encode() if raw is None else raw
    data = HEAD.pack(len(text), len(blob)) + text + blob
    while data:
        data = data[os.write(1, data):]


def read(size):
    data = b""
    while len(data) < size:
        more = os.read(0, size - len(data))
        if not more:
            sys.exit(0)
        data += more
    return data


def serve(handle):
    """`handle(request, blob)` gives reply and blob."""
    while True:
        sizes = HEAD.unpack(read(HEAD.size))
        request = json.loads(read(sizes[0]))
        blob = read(sizes[1])
        try:
            reply, more = handle(request, blob)
            send({"ok": True, **reply}, more)
        except Failure as failure:
            send({"error": failure.args[0]})
