"""The judge's script is the reference, a runner's the plan: times, findings, and how requests end ("on")."""

import json
import os
import pathlib
import resource
import sys
import threading

from kernelsmith_torch.channel import fail, misbehave, script_of, serve

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2]))
from own_kernels import own_kernels  # noqa: E402


def process():
    """How this process was started."""
    with open("/proc/self/status") as status:
        signals = [line for line in status if line.startswith(("SigBlk", "SigIgn", "SigCgt"))]
    return {"pid": os.getpid(), "parent": os.getppid(), "group": pathlib.Path("/proc/self/cgroup").read_text(), "leads": os.getsid(0) == os.getpid() == os.getpgid(0),
            "given": {"environment": dict(os.environ), "arguments": sys.argv[1:], "folder": os.getcwd(), "signals": signals,
                      "limits": [resource.getrlimit(limit) for limit in range(16)],
                      "processors": sorted(os.sched_getaffinity(0)), "nice": os.nice(0),
                      "descriptors": [number for number in range(1024) if os.path.exists(f"/proc/self/fd/{number}")]}}


class Judge:
    def __init__(self):
        self.script, self.refused = {}, False

    def handle(self, request, _):
        do = request["do"]
        if do == "hello":
            if os.environ.get("FAKE_NO_GPU"):
                fail("machine", "no_gpu", "the GPU cannot be used: no driver")
            full = pathlib.Path(os.environ.get("FAKE_FULL_GPU", "/none"))
            if full.exists():
                full.unlink()
                fail("machine", "busy", "the GPU's memory is full")
            return {"device": "NVIDIA Fake 80GB", "bus_id": os.environ.get("FAKE_BUS_ID", "fake"),
                    "memory_bytes": int(os.environ.get("FAKE_MEMORY", 0)), "capability": [9, 0], "process": process()}, b""
        if do == "read":
            return {}, b""
        if do in ("try", "prepare"):
            self.script = script_of(pathlib.Path(request["reference"]).read_text())
            self.script["asked"] = request
            assert request["kernels"] == own_kernels()
            misbehave(self.script.get("on", {}).get(do))
            if "slots" in request.get("workloads", [{}])[0]:
                misbehave(self.script.get("on", {}).get("prepare like before"))
            if self.script.get("needs_all") and not request["alone"]:
                fail("machine", "busy", "a neighbour has the memory")
            return {"workloads": [self.facts(one["arguments"]) for one in request.get("workloads", [{"arguments": {}}])], "bytes_per_us": 1000,
                    "notes": self.script.get("notes", []), "spent_s": self.script.get("spent_s", {})}, b""
        misbehave(self.script.get("on", {}).get(do))
        if do == "release":
            return {}, b""
        if do == "yardstick":
            if pathlib.Path(os.environ.get("FAKE_BROKEN_GPU", "/none")).exists():
                fail("machine", "internal", "CUDA error: the device is gone")
            return {"us": self.script.get("us", 1000) * len(request["sets"])}, b""
        assert do == "compare"
        found = {"own": self.script} if request.get("own") else request["outbox"]
        script = found.get("own", found)
        if "own" in found and self.refused:
            misbehave(script.get("own_after_it"))
        self.refused = "compare" in script
        misbehave(script.get("compare"))
        wrong = script.get("wrong")
        if wrong and any(wrong.get(key, request[key]) != request[key] for key in ("workload", "variant")):
            wrong = None
        return {"error": 12 if wrong else 0.25, "digest": str(script.get("digest", 1)), "wrong": wrong,
                "truth_s": self.script.get("truth_s", 0)}, b""


    def facts(self, arguments):
        """The facts of a workload, whose calls read more bytes the larger its argument `n` is."""
        return {"inputs": [], "memory": {"inputs": self.script.get("inputs", 0), "need": self.script.get("need", 1)},
                "outputs": [{"dtype": "float32", "shape": [2, 3]}], "variants": self.script.get("variants", ["given", "scaled"]),
                "slots": 4, "degenerate": self.script.get("degenerate", []), "flops": self.script.get("flops", 0),
                "compulsory_bytes": self.script.get("bytes", 0) + arguments.get("n", 0)}


class Runner:
    def __init__(self):
        self.script, self.prepared, self.sets, self.reads = {}, False, [], 0

    def handle(self, request, blob):
        do = request["do"]
        if do == "read":
            self.reads += 1
            return {}, b""
        if do == "prepare":
            if "workloads" in request:
                assert request["workloads"][-1]["outputs"][0]["shape"] == [2, 3], "how the reference's outputs lie"
                assert request["kernels"] == own_kernels()
            self.prepared = True
            return {}, b""
        assert self.prepared
        if do == "load":
            self.script = json.loads(blob[12:])
            self.workload = request.get("workload", 0)
            assert self.script.get("workload", {}).get("arguments", {}).get("number", self.workload) == self.workload
        how = self.script.get("on", {}).get(do)
        if how == "too long":
            fail("candidate", "timed_out", f"the calls did not end within {request['call_s']:g} s")
        misbehave(how)
        if do == "load":
            if self.script.get("needs_all") and not request["alone"]:
                fail("machine", "busy", "a neighbour has the memory")
            return {"launches": self.script.get("launches", 1), "aten": 2, "own_ops": ["k"], "reads": self.reads}, b""
        if do == "run":
            us = self.script.get("us_by_workload", {}).get(str(self.workload), self.script.get("us", 500))
            return {"us": us * len(request["sets"])}, b""
        if do == "publish":
            return {"outbox": {key: self.script[key] for key in ("wrong", "compare", "digest") if key in self.script}}, b""
        assert do == "profile"
        return {"own_share": 0.75, "peak_bytes": 4096, "ops": [{"name": "k", "own": True, "us": 3.0}, {"name": "addmm", "own": False, "us": 1}]}, b""


def warm():
    misbehave(os.environ.get("FAKE_WARM"))
    if os.environ.get("FAKE_THREAD"):
        threading.Thread(target=threading.Event().wait, daemon=True).start()


def main():
    serve((Judge() if sys.argv[1] == "judge" else Runner()).handle)


if __name__ == "__main__":
    main()
