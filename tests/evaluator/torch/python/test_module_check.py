"""Entries of C++ extensions in plans that were changed by an adversary."""

from __future__ import annotations

import base64
import contextlib
import copy
import json
import struct
import unittest
from typing import Any

import torch

from cubin_writer import cubin, elf
from kernelsmith_process.framing import Failure
from kernelsmith_torch import cubin_facts, module_check, plan_format
from kernelsmith_torch.cubin import may_keep_variables, resources
from kernelsmith_torch.plan_check import Plan, check_plan

CUBIN = cubin({"scale": [8, 8, 4], "none": []}, {"counter": 64})
T = {"t": 0}
RUN = {"run": 0, "kernel": "scale", "grid": [4, 1, 1], "block": [128, 1, 1], "shared": 0,
       "params": base64.b64encode(bytes(20)).decode(), "pointers": [[0, T, 0], [8, {"t": 1}, 16]], "line": "candidate.py:3"}
MEMSET = {"memset": T, "at": 8, "bytes": 16, "value": 7, "width": 4}
COPY = {"copy": T, "at": 0, "from": {"t": 1}, "from_at": 4, "bytes": 12}
UPLOAD = {"upload": T, "at": 0, "data": base64.b64encode(bytes(16)).decode(), "pointers": [[8, T, 0]]}
SYMBOL = {"symbol": 0, "name": "counter", "at": 8, "data": base64.b64encode(bytes(16)).decode(), "pointers": []}
FROM = {"symbol": 0, "name": "counter", "at": 8, "from": T, "from_at": 0, "bytes": 56}


def plan_of(*ops: dict[str, Any], setup: tuple = ()) -> dict[str, Any]:
    allocate = {"aten": "aten::empty_like", "overload": "default", "args": [T], "kwargs": {}, "out": {"t": 1}}
    return {"version": 1, "arch": 90, "kernels": [], "setup": list(setup), "state": {},
            "inputs": [{"id": 0, "dtype": "float32", "shape": [16]}],
            "alternatives": [{"name": "", "ops": [allocate, *ops],
                              "outputs": [{"id": 1, "dtype": "float32", "shape": [16]}]}]}


def checked(plan: dict[str, Any], *cubins: bytes) -> Plan:
    modules = list(cubins) or [CUBIN]
    told = [{"offset": 0, "size": len(module)} for module in modules]
    return check_plan({**plan, "modules": told}, modules, (9, 0), torch.device("cpu"))


def data(size: int) -> str:
    return base64.b64encode(bytes(size)).decode()


class Checks(unittest.TestCase):
    def refused(self, why: str, *ops: dict[str, Any], cubin: bytes = CUBIN) -> None:
        with self.assertRaises(Failure) as caught:
            checked(plan_of(*ops), cubin)
        failure = caught.exception
        self.assertEqual((failure.fault, failure.code), ("candidate", "bad_plan"))
        self.assertIn(why, failure.message)

    def test_each_kind_of_entry_is_read(self) -> None:
        plan = checked(plan_of(RUN, MEMSET, COPY, UPLOAD, SYMBOL, FROM))
        _, run, memset, copied, upload, symbol, source = plan.alternatives[0].ops
        self.assertEqual((run.kernel, run.grid, run.block, run.line), ("scale", (4, 1, 1), (128, 1, 1), "candidate.py:3"))
        self.assertEqual([(p.offset, p.to.id, p.at) for p in run.pointers], [(0, 0, 0), (8, 1, 16)])
        self.assertEqual((memset.to.at, memset.bytes, memset.width), (8, 16, 4))
        self.assertEqual((copied.to.to.id, copied.source.to.id, copied.source.at), (0, 1, 4))
        self.assertEqual((len(upload.data), symbol.bytes, source.bytes), (16, 16, 56))
        self.assertEqual(plan.modules[0].facts.variables, {"counter": 64})

    def test_entries_may_stand_in_the_setup(self) -> None:
        made = {"aten": "aten::zeros", "overload": "default", "args": [[16]], "kwargs": {}, "out": {"t": 2}}
        clear = {"memset": {"t": 2}, "at": 0, "bytes": 4, "value": 0}
        self.assertEqual(len(checked(plan_of(setup=(made, clear, SYMBOL))).setup), 3)

    def test_a_plan_without_modules_needs_no_list(self) -> None:
        self.assertEqual(check_plan(plan_of(), [], (9, 0), torch.device("cpu")).modules, [])

    def test_what_a_table_of_pointers_names_lives_to_the_end_of_the_call(self) -> None:
        made = {"aten": "aten::empty_like", "overload": "default", "args": [T], "kwargs": {}, "out": {"t": 2}}
        used = {**RUN, "pointers": [[0, {"t": 2}, 0]]}
        table = {**UPLOAD, "pointers": [[8, {"t": 2}, 0]]}
        frees = [op.frees for op in checked(plan_of(made, used, COPY)).alternatives[0].ops]
        self.assertEqual(frees[2], [2])
        self.assertNotIn([2], [op.frees for op in checked(plan_of(made, table, used, COPY)).alternatives[0].ops])

    def test_parameters_are_the_kernels(self) -> None:
        for size in (0, 12, 19, 21, 24, 32_000):
            self.refused("takes 20 bytes of parameters", {**RUN, "params": data(size), "pointers": []})
        self.refused("at most 32764 bytes", {**RUN, "params": data(40_000)})
        self.refused("not base64", {**RUN, "params": "AAA*"})
        self.refused("in base64", {**RUN, "params": 5})
        checked(plan_of({**RUN, "kernel": "none", "params": "", "pointers": []}))

    def test_pointers_lie_in_the_parameters(self) -> None:
        for offset in (-8, 16, 24, 2**40):
            self.refused("offset", {**RUN, "pointers": [[offset, T, 0]]})
        self.refused("not a multiple of 8", {**RUN, "pointers": [[4, T, 0]]})
        self.refused("the same offset", {**RUN, "pointers": [[8, T, 0], [8, T, 4]]})
        self.refused("not an offset, a tensor and a byte", {**RUN, "pointers": [[8, T]]})
        self.refused("offset", {**RUN, "kernel": "none", "params": "", "pointers": [[0, T, 0]]})

    def test_pointers_name_tensors_that_there_are(self) -> None:
        self.refused("used before", {**RUN, "pointers": [[0, {"t": 7}, 0]]})
        self.refused("a tensor", {**RUN, "pointers": [[0, {"device": True}, 0]]})
        for at in (-1, 2**48 + 1, 1.5, True, None):
            self.refused("a place in a tensor", {**RUN, "pointers": [[0, T, at]]})

    def test_launches_are_such_as_a_device_has(self) -> None:
        for grid in ([0, 1, 1], [1, 65_536, 1], [1, 1], [1, 1, 1, 1], [2**31, 1, 1], ["1", 1, 1]):
            self.refused("grid", {**RUN, "grid": grid})
        for block in ([1025, 1, 1], [1, 1, 65], [0, 1, 1]):
            self.refused("a block", {**RUN, "block": block})
        self.refused("too many threads", {**RUN, "block": [512, 4, 1]})
        self.refused("too many threads or registers", RUN | {"block": [1024, 1, 1]},
                     cubin=cubin({"scale": [8, 8, 4]}, registers=65))

    def test_shared_memory_is_bounded(self) -> None:
        self.refused("more shared memory", {**RUN, "shared": 50_000})
        self.refused("more shared memory", {**RUN, "shared": 50_000, "max_shared": 49_999})
        self.refused("max_shared", {**RUN, "shared": 0, "max_shared": 232_449})
        checked(plan_of({**RUN, "shared": 232_448, "max_shared": 232_448}))
        self.refused("more shared memory", {**RUN, "shared": 232_448, "max_shared": 232_448},
                     cubin=cubin({"scale": [8, 8, 4]}, shared=16))

    def test_clusters_divide_the_grid(self) -> None:
        checked(plan_of({**RUN, "cluster": [2, 1, 1], "cooperative": True}))
        self.refused("does not divide", {**RUN, "cluster": [3, 1, 1]})
        self.refused("too large", {**RUN, "cluster": [4, 8, 1], "grid": [4, 8, 1]})
        self.refused("cooperative", {**RUN, "cooperative": 1})

    def test_kernels_and_modules_are_there(self) -> None:
        self.refused("has no kernel other", {**RUN, "kernel": "other"})
        self.refused("has no kernel counter", {**RUN, "kernel": "counter"})
        for number in (1, -1, True, None):
            self.refused("a module's number", {**RUN, "run": number})
        self.refused("a module's number", {**SYMBOL, "symbol": 9})

    def test_memory_is_bounded(self) -> None:
        self.refused("whole elements", {**MEMSET, "at": 2})
        self.refused("whole elements", {**MEMSET, "bytes": 6})
        for width in (3, 8, True, "4"):
            self.refused("width", {**MEMSET, "width": width})
        self.refused("value", {**MEMSET, "width": 1, "value": 256})
        self.refused("a number of bytes", {**MEMSET, "bytes": -4})
        self.refused("a number of bytes", {**COPY, "bytes": 2**48 + 1})
        self.refused("used before", {**COPY, "from": {"t": 5}})

    def test_uploads_are_small(self) -> None:
        checked(plan_of({**UPLOAD, "data": data(module_check.MOST_UPLOAD), "pointers": []}))
        self.refused("an upload's bytes", {**UPLOAD, "data": data(module_check.MOST_UPLOAD + 1), "pointers": []})
        self.refused("offset", {**UPLOAD, "pointers": [[16, T, 0]]})
        many = [{**UPLOAD, "data": data(module_check.MOST_UPLOAD), "pointers": []}] * 17
        self.refused("are uploaded", *many)
        self.refused("are uploaded", *[{**SYMBOL, "data": data(64), "at": 0}] * 9, *many[1:])

    def test_copies_stay_in_the_variable(self) -> None:
        self.refused("past the end", {**SYMBOL, "at": 49})
        self.refused("past the end", {**FROM, "bytes": 57})
        self.refused("a place in a variable", {**SYMBOL, "at": 65})
        self.refused("no variable scale", {**SYMBOL, "name": "scale"})
        self.refused("lacks a member or has one too many", {**SYMBOL, "from": T})

    def test_variables_are_bounded_in_all(self) -> None:
        half = cubin({}, {"v": module_check.MOST_VARIABLES // 2 + 8})
        checked(plan_of(), half)
        with self.assertRaisesRegex(Failure, "bytes of variables"):
            checked(plan_of(), half, half)
        with self.assertRaisesRegex(plan_format.PlanError, "67108880 bytes of __device__"):
            plan_format.encode(plan_of(), [], [half, half])

    def test_people_are_told_what_launched_kernels_take(self) -> None:
        module = cubin({"scale": [8, 8, 4], "none": []}, shared=64)
        blob = plan_format.encode(plan_of(RUN, {**RUN, "shared": 512}), [], [module])
        plan, cubins = plan_format.decode(blob)
        self.assertEqual({key: plan["modules"][0][key] for key in ("registers", "spills", "shared")},
                         {"registers": 32, "spills": 0, "shared": 576})
        check_plan(plan, cubins, (9, 0), torch.device("cpu"))
        plan, _ = plan_format.decode(plan_format.encode(plan_of(), [], [CUBIN]))
        self.assertEqual(set(plan["modules"][0]), {"offset", "size"})

    def test_modules_are_cubins(self) -> None:
        self.refused("not a cubin", cubin=b"")
        self.refused("not a cubin", cubin=CUBIN[:400])
        self.refused("another machine", cubin=cubin({}, machine=62))
        with self.assertRaisesRegex(plan_format.PlanError, "at most 64"):
            plan_format.encode(plan_of(), [], [b""] * 65)
        with self.assertRaisesRegex(plan_format.PlanError, "at most 64 modules"):
            plan_format.decode(plan_format.encode(plan_of(), [], []).replace(b'"modules":[]', b'"modules":10'))
        blob = bytearray(plan_format.encode(plan_of(), [], [CUBIN]))
        with self.assertRaisesRegex(plan_format.PlanError, "outside"):
            plan_format.decode(bytes(blob[:-1]))

    def test_each_module_has_bytes_of_its_own(self) -> None:
        blob = plan_format.encode(plan_of(), [], [CUBIN, CUBIN])
        self.assertEqual(plan_format.decode(blob)[1], [CUBIN, CUBIN])
        plan, _ = plan_format.decode(blob)
        plan["modules"][1]["offset"] = 0
        text = json.dumps(plan).encode()
        with self.assertRaisesRegex(plan_format.PlanError, "overlap"):
            plan_format.decode(plan_format.MAGIC + struct.pack("<I", len(text)) + text + CUBIN)

    def test_members_are_as_many_as_there_should_be(self) -> None:
        for entry in (RUN, MEMSET, COPY, UPLOAD, SYMBOL, FROM):
            for key in set(entry) - {"line", "width"}:
                broken = copy.deepcopy(entry)
                del broken[key]
                with self.assertRaises(Failure, msg=f"{entry} without {key}"):
                    checked(plan_of(broken))
            self.refused("one too many", {**entry, "more": 1})
            self.refused("a line", {**entry, "line": "x" * 2000})

    def test_no_prefix_of_a_cubin_is_anything_but_an_error(self) -> None:
        for end in range(0, len(CUBIN) - 64, 7):
            with self.assertRaises(ValueError):
                cubin_facts.read(CUBIN[:end])
        for at in range(0, len(CUBIN), 3):  # numbers beyond any file among them
            changed = CUBIN[:at] + b"\xff" * 3 + CUBIN[at + 3:]
            with contextlib.suppress(ValueError):
                cubin_facts.read(changed)
            self.assertIn(may_keep_variables(changed), (True, False))
            self.assertLessEqual(resources(changed, "scale").keys(), {"registers", "spills"})
        self.assertEqual(resources(CUBIN, "other"), {})

    def test_a_cubin_is_read_in_bounds(self) -> None:
        def kernel_symbols(starts: list[int]) -> bytes:
            return b"".join(struct.pack("<IBBHQQ", start, 2, 0x10, 0, 0, 0) for start in starts)

        parameter = struct.pack("<BBHIHHI", 4, 0x17, 12, 0, 0, 0, 8 << 18)
        long = b"a" * 8000 + b"\0"  # each kernel's name is the rest of this from another place on
        texts = b"".join(b"%06d" % i + long for i in range(400))
        for why, symbols, names, info in (
                ("duplicate name", kernel_symbols([0, 0]), b"k\0", b""),
                ("too many names", kernel_symbols([8007 * i for i in range(400)]), texts, b""),
                ("too many symbols", kernel_symbols([0] * (1 << 15)), b"k\0", b""),
                ("too many attributes", kernel_symbols([0]), b"k\0", parameter * (1 << 17))):
            with self.subTest(why), self.assertRaisesRegex(ValueError, why):
                cubin_facts.read(elf([(".strtab", 3, names, 0, len(names)), (".symtab", 2, symbols, 0, len(symbols)),
                                      (".nv.info.k", 1, info, 0, len(info))]))
        with self.assertRaisesRegex(ValueError, "too many sections"):
            cubin_facts.read(elf([("x", 1, b"", 0, 0)] * (1 << 15)))

    def test_names_are_of_plain_characters(self) -> None:
        for op in ({**RUN, "kernel": "scal\ud800"}, {**SYMBOL, "name": "\u00e9"}):
            self.refused("strange characters", op)
        operator = {"aten": "aten::relu", "overload": "default", "args": [T], "kwargs": {}, "out": {"t": 2}}
        for changed in ({"aten": "aten::relu\ud800"}, {"overload": "\ud800"}, {"kwargs": {"\ud800": 1}}):
            self.refused("strange characters", {**operator, **changed})
