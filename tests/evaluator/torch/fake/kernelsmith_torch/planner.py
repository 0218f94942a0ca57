"""A candidate is JSON: "plan" says how its planning ends; all of it is in its plan. "builds" are extensions that it asks for
one after the other; one that fails ends its planning if it says "uncaught"."""

import json
import os

from kernelsmith_torch.channel import fail, misbehave, script_of, serve


def handle(request, blob):
    if request["do"] == "hello":
        misbehave(os.environ.get("FAKE_HELLO"))
        return {"torch": "2.11.0", "triton": "3.6.0", "python": "3.11", "cuda_build": True}, b""
    misbehave(os.environ.get("FAKE_PLAN"))
    files = request.get("files", {})
    if "held_out.toml" in files or ("tables.py" in files) != ("tables.py" in request["reference"]):
        fail("machine", "files", f"a planner has {list(files)}")
    text = request["candidate"] if request["candidate"] is not None else "{}"
    script = script_of(text)
    misbehave((script if request["candidate"] is not None else script_of(request["reference"])).get("plan"))
    for job in script.get("builds", []):
        built = request["builds"].get(job["key"])
        if built is None or script.get("again"):
            return {"build": {"arch": request["arch"], **job}}, b""
        if "error" in built and script.get("uncaught"):
            fail("candidate", "plan_failed", f"RuntimeError: Error building extension 'e': {built['error']}", "plan")
    script["built"] = {key: "error" in built or [blob[place[0]:sum(place)].decode() for place in
                                                 (built["host"], *built["device"])]
                       for key, built in request["builds"].items()}
    plans = [plan_of({**script, "workload": one}, request) for one in request["workloads"]]
    return {"plans": [{**told, "bytes": len(blob)} for told, blob in plans]}, b"".join(blob for _, blob in plans)


def plan_of(script, request):
    misbehave(script.get("plan_at", {}).get(script["workload"]["name"]))
    launches = script.get("launches_at", {}).get(script["workload"]["name"], script.get("launches", 1))
    summary = {"launches": launches, "own_kernels": ["k"], "operators": {"aten::addmm": 2}}
    told = f"{request['name']} for sm_{request['arch']}: {launches} launches, planner {os.getpid()}\n"
    kernels = [{"registers": 32, "spills": 3, "shared": 512}, {"registers": 40, "spills": 0, "shared": 1024}]
    if script["workload"]["name"] in script.get("by_chance", []):
        script["chance"] = os.urandom(8).hex()
    plan = json.dumps({**script, "kernels": kernels}).encode()
    return {"summary": summary, "text": told}, b"KSTORCH1" + len(plan).to_bytes(4, "little") + plan


if __name__ == "__main__":
    serve(handle)
