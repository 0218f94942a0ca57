"""What outlives a candidate's call, on a real GPU and within this process, so that failures have a traceback.

gpu_check.py runs it. Each check returns what it measured, and raises AssertionError if something is not right.
"""

from __future__ import annotations

import ctypes
import os
import pathlib
import re
import sys
import time
from collections import Counter
from typing import Any

os.environ.setdefault("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True")  # as in the workers

import torch  # noqa: E402

from kernelsmith_process.framing import Failure
from kernelsmith_torch.accelerator import Device, Seal, hash_of, secret_key, wrap
from kernelsmith_torch.judge import driver_ok
from kernelsmith_torch.own_kernels import OTHER_POISON
from kernelsmith_torch.runner import Runner
from kernelsmith_torch.timing import Clock
from own_kernels import own_kernels

MARK = 0x6B736D61
FRAME = 512  # bytes of local memory
GIB = 1 << 30
REDTEAM = pathlib.Path(__file__).resolve().parents[2] / "redteam"
sys.path.append(str(REDTEAM))
from cases import all_of  # noqa: E402


def looking(text: str, name: str) -> str:
    """A wipe of these kernels, made to count the words that it would overwrite and that are `word`."""
    head, entry = text[:text.index(".visible")], re.search(rf"\.visible \.entry kernelsmith_{name}\(.*?\n}}\n", text, re.DOTALL)[0]
    entry, stores = re.subn(r"st\.volatile(|\.shared)\.u32 \[(%\w+)\], %word;",
                            r"ld.volatile\1.u32 %seen, [\2];\n  setp.eq.u32 %same, %seen, %word;\n"
                            r"  @%same red.global.add.u32 [%found], 1;", entry)
    assert stores == 1
    entry = entry.replace(".param .u32 word)", ".param .u32 word, .param .u64 found)")
    return head + entry.replace("  .reg .pred %done;", "  .reg .pred %done, %same;\n  .reg .b32 %seen;\n  .reg .b64 %found;\n"
                                "  ld.param.u64 %found, [found];\n  cvta.to.global.u64 %found, %found;", 1)


class Outlives:
    def __init__(self) -> None:
        self.device = Device(0)
        self.clock = Clock(self.device)
        self.clock.kernels.load({"kernels": own_kernels()})

    def seals(self) -> str:
        """Triton's hash is PyTorch's, and one changed word is seen."""
        for dtype, count in ((torch.int32, 1000), (torch.int32, 3_000_001), (torch.uint8, 1_000_003)):
            tensor = torch.randint(0, 100, (count,), dtype=dtype, device=self.device.torch)
            key = secret_key()
            assert int(hash_of(tensor, key)) == int(hash_of(tensor.cpu(), key)), (dtype, count)
        seal = Seal([tensor])
        assert seal.intact()
        tensor[123] += 1
        assert not seal.intact()
        large = torch.zeros(GIB, dtype=torch.int32, device=self.device.torch)
        return f"{4 * GIB / self._seconds(lambda: hash_of(large, key)) / 1e9:.0f} GB/s"

    def free_memory(self) -> str:
        """All that is cached is overwritten, and what lies behind a tensor in its block."""
        size, piece = self.device.memory()[1] // 2 // GIB * GIB, torch.empty(GIB, dtype=torch.bool, device=self.device.torch)
        marked = torch.full((size,), 7, dtype=torch.uint8, device=self.device.torch)
        address = marked.data_ptr()
        del marked
        seconds = self._seconds(self.clock.wipe_free_memory)
        whole = wrap(address, size, self.device.torch)
        assert all(bool(torch.eq(whole[at:at + GIB], OTHER_POISON, out=piece).all()) for at in range(0, size, GIB))
        torch.cuda.empty_cache()
        marked = torch.full((1024,), 7, dtype=torch.uint8, device=self.device.torch)
        del marked
        short = torch.zeros(1000, dtype=torch.uint8, device=self.device.torch)
        self.clock.wipe_free_memory()
        assert wrap(short.data_ptr() + 1000, 24, self.device.torch).tolist() == [OTHER_POISON] * 24
        assert not short.any()
        assert seconds < 1, seconds
        return f"{size >> 30} GiB in {seconds * 1e3:.1f} ms"

    def multiprocessors(self) -> str:
        """Shared and local memory keep a mark from launch to launch, and not past a wipe."""
        kernels, texts, told = self.clock.kernels, own_kernels(), []
        kernels.reach(FRAME)
        for name, text, size, dynamic in (("wipe", texts["plain_kernels"], kernels._shared_bytes, kernels._shared_bytes),
                                          ("wipe_local", texts["local_wipe"].replace("BYTES", str(FRAME)), FRAME, 0)):
            counts = []
            for between in (lambda: None, kernels.wipe):
                self._launch(text, name, size, dynamic)
                between()
                counts.append(self._launch(looking(text, name), name, size, dynamic))
            assert counts[1] == 0, (name, counts)
            told.append(f"{name}: {counts[0]} marked words, then 0")
        return f"{', '.join(told)}; {self._seconds(kernels.wipe) * 1e6:.0f} us"

    def _launch(self, text: str, name: str, size: int, dynamic: int) -> int:
        kernels, found = self.clock.kernels, torch.zeros(1, dtype=torch.int32, device=self.device.torch)
        driver, looks = kernels._driver, "found" in text
        module = kernels._module(text)
        function = kernels._function(module, name)
        if dynamic:
            driver_ok(driver.cuFuncSetAttribute(
                function, driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, dynamic))
        values, types = [size // 4, MARK], [ctypes.c_uint32, ctypes.c_uint32]
        if looks:
            values.append(found.data_ptr())
            types.append(ctypes.c_void_p)
        stream = torch.cuda.current_stream(self.device.torch).cuda_stream
        driver_ok(driver.cuLaunchKernel(function, 2 * kernels._processors, 1, 1, 1024, 1, 1, dynamic, stream,
                                        (tuple(values), tuple(types)), 0))
        self.device.finish()
        driver_ok(driver.cuModuleUnload(module))
        return int(found)

    def pools(self) -> str:
        """A pool that is held takes calls again after all of its others are gone, and does not grow."""
        pool = self.clock.new_pool()
        anchor = self.clock.hold(pool)
        x = torch.arange(1 << 20, dtype=torch.float32, device=self.device.torch)
        held = []
        for _ in range(10):
            calls = [self.clock.record(lambda: [x + 1], pool=pool) for _ in range(4)]
            self.clock.play(lambda: calls, lambda: None)
            assert all(torch.equal(call.outputs[0], x + 1) for call in calls)
            self.clock.forget()
            del calls
            held.append(torch.cuda.memory_reserved(self.device.torch))
        assert held[1] == held[-1], held
        assert anchor.graph is not None
        return f"{held[-1] >> 20} MiB after each of 10 batches"

    def workspaces(self) -> str:
        x = torch.ones(512, 512, device=self.device.torch)
        torch.mm(x, x)
        assert self.device.drop_workspaces()
        assert not self.device.drop_workspaces()
        return "dropped once"

    def _seconds(self, work: Any) -> float:
        """How long the second time takes."""
        work()
        self.device.finish()
        start = time.perf_counter()
        work()
        self.device.finish()
        return time.perf_counter() - start


class Batches:
    """A runner of this process, and plans that the planner makes."""

    def __init__(self, device: Device, plan: Any, task: dict[str, Any]) -> None:
        self.runner, self.plan = Runner(device), plan
        self.do = self.runner.handlers()
        self.do["prepare"](task, b"")
        self.slots = task["slots"]

    def play(self, candidate: str, batches: int = 1, sets: int = 1) -> None:
        self.do["load"]({}, self.plan(candidate))
        for batch in range(batches):
            self.do["run"]({"variant": 0, "sets": [1000 * batch + i for i in range(1, sets + 1)]}, b"")
            self.do["publish"]({}, b"")

    def costs(self, candidate: str) -> str:
        """Captures, and where a batch's time on the host goes. Inputs lie elsewhere from batch to batch."""
        self.play(candidate, batches=2, sets=self.slots)
        plan = self.plan(candidate)
        start = time.perf_counter()
        self.do["load"]({}, plan)
        load_s = time.perf_counter() - start
        spent, times = Counter(), Counter()
        runner, count, rounds = self.runner, self.slots, 10
        watched = ((runner._clock, "record"), (runner, "_placed_anew"), (runner, "_lay_out"), (runner._clock, "_batch"),
                   (runner._clock, "_time"))
        for owner, name in watched:
            setattr(owner, name, _watched(getattr(owner, name), name, spent, times))
        addresses = []
        for batch in range(rounds):
            self.do["run"]({"variant": 0, "sets": list(range(100 * batch + 1, 100 * batch + 1 + count))}, b"")
            addresses.append([tensor.data_ptr() for inputs, _, _ in runner._slots for tensor in inputs.tensors()])
            start = time.perf_counter()
            self.do["publish"]({}, b"")
            spent["publish"] += time.perf_counter() - start
        for owner, name in watched:
            delattr(owner, name)
        assert len(set(map(tuple, addresses))) > rounds // 2, addresses
        parts = ", ".join(f"{name} {spent[name] / rounds * 1e3:.2f}" for name in
                          ("_placed_anew", "record", "_lay_out", "_batch", "_time", "publish"))
        return (f"loaded again in {load_s * 1e3:.1f} ms; batches of {count} calls, {times['record'] / rounds:g} captures "
                f"each; ms of a batch: {parts}")

    def changing(self, candidate: str, honest: str) -> str:
        """A candidate that must be found to change what is not its own; the next one finds all as it was."""
        try:
            self.play(candidate)
        except Failure as failure:
            assert failure.code == "input_modified", failure.message
            self.play(honest)
            return failure.message
        raise AssertionError("nothing was found")

    def laid_out(self, candidate: str) -> str:
        """An output that lies otherwise than the reference's is written out in the call."""
        self.play(candidate)
        outputs = [call.outputs[0] for call in self.runner._played]
        assert all(output.is_contiguous() for output in outputs), [output.stride() for output in outputs]
        return "contiguous"


def case(path: str) -> str:
    return all_of(REDTEAM / "torch" / "cases")[path]


def _watched(function: Any, name: str, spent: Counter, times: Counter) -> Any:
    def call(*args: Any, **kwargs: Any) -> Any:
        start = time.perf_counter()
        try:
            return function(*args, **kwargs)
        finally:
            spent[name] += time.perf_counter() - start
            times[name] += 1

    return call
