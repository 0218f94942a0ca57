"""Plans that were changed by an adversary: each is refused by a clear error, or is a plan like any other."""

from __future__ import annotations

import copy
import json as jsons
import random
import unittest
from typing import Any

import torch

from worker_bench import LINEAR, X, Bench, Plan, bench_for, failure_of, linear_plan
from kernelsmith_torch import operators, plan_format
from kernelsmith_process.framing import Failure
from kernelsmith_torch.plan_check import check_plan
from kernelsmith_torch.plan_values import Launch

CPU = torch.device("cpu")
STRANGE = [None, True, -1, 0, 3, 2**31, 2**63, -2**63 - 1, 10**30, 1.5, "", "x" * 5000, "float32", [], [[]], {}, {"t": 0},
           {"t": 4}, {"t": -1}, {"t": "0"}, {"t": 10**9}, {"dtype": "float64"}, {"dtype": "qint8"}, {"device": "cuda:7"},
           {"layout": "sparse_coo"}, {"memory_format": "channels_last"}, {"float": "nan"}, {"float": "1"}, {"a": 1, "b": 2},
           [1] * 300, "aten::resize_", "aten::from_file", "aten::set_", "aten::bernoulli_", "prim::device",
           "aten::__class__", "source_Storage", "out"]


def rich_plan() -> Plan:
    """LINEAR's plan with setup, views, in-place operators and several results."""
    plan = Plan([torch.empty(16, 96)], ["linear.weight", "linear.bias"])
    zero = plan.op("zeros", [16, 48], dtype={"dtype": "float32"}, device={"device": True}, setup=True)
    one = {"t": 90}
    plan.json["setup"].append({"constant": {"dtype": "float32", "shape": [2, 1], "values": [1, 1.0]}, "out": one})
    plan.op("uniform_", zero, 0.0, 0.0, setup=True)
    plan.json["setup"][-1]["draws"] = "cpu"
    plan.json["setup"].append({"seed": 7, "draws": "all"})
    w = plan.op("as_strided", plan.state("linear.weight"), [96, 48], [1, 96])
    y = plan.op("empty_like", zero, memory_format={"memory_format": "preserve_format"})
    plan.op("copy_", y, plan.op("addmm", plan.state("linear.bias"), X, w, beta=1, alpha=1.0))
    parts = plan.op("split.Tensor", y, 24, 1, results=2)
    z = plan.op("cat", parts, 1)
    plan.op("clamp_", z, 0.0, {"float": "inf"})
    plan.op("mul_.Tensor", z, plan.op("select.int", one, 0, 1))
    plan.output(plan.op("add.Tensor", z, zero), "float32", 16, 48)
    return plan


def places(value: Any, path: tuple = ()) -> list[tuple]:
    """Every place within a JSON value."""
    found = [path] if path else []
    if isinstance(value, dict):
        for key in value:
            found += places(value[key], (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            found += places(inner, (*path, index))
    return found


def mutate(json: dict[str, Any], draw: random.Random) -> None:
    """Changes, removes or doubles one member somewhere."""
    path = draw.choice(places(json))
    parent = json
    for step in path[:-1]:
        parent = parent[step]
    kind = draw.randrange(4)
    if kind == 0:
        del parent[path[-1]]
    elif kind == 1 and isinstance(parent, list):
        parent.insert(draw.randrange(len(parent) + 1), copy.deepcopy(parent[path[-1]]))
    elif kind == 2 and isinstance(parent[path[-1]], int):
        parent[path[-1]] += draw.choice([-100, -2, -1, 1, 2, 100, 2**20])
    else:
        parent[path[-1]] = copy.deepcopy(draw.choice(STRANGE))


class Hostile(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.bench = Bench(LINEAR, slots=1)

    @classmethod
    def tearDownClass(cls) -> None:
        cls.bench.close()

    def test_the_plan_itself_is_right(self) -> None:
        self.assertIsNone(self.bench.judged(rich_plan(), sets=[1])["wrong"])

    def test_random_changes_give_a_verdict_or_a_clear_error(self) -> None:
        draw = random.Random(20)
        good = rich_plan().json
        refused = wrong = 0
        for number in range(600):
            json = copy.deepcopy(good)
            for _ in range(draw.choice([1, 1, 1, 2, 5])):
                mutate(json, draw)
            text = jsons.dumps(json).encode()
            blob = plan_format.MAGIC + len(text).to_bytes(4, "little") + text
            try:
                self.bench.runner.load({}, blob)
                found = self.bench.again([1])
                wrong += found["wrong"] is not None
            except Failure as failure:
                refused += 1
                self.assertEqual(failure.fault, "candidate", (number, failure.message))
                self.assertTrue(failure.code and failure.message and failure.stage, number)
            # It may have changed the parameters, which is found once.
            self.bench.runner.prepare({"reference": self.bench.path, "precision": "fp32", "slots": 1}, b"")
        self.assertGreater(refused, 300)

    def test_random_bytes(self) -> None:
        draw = random.Random(21)
        good = rich_plan().bytes()
        for _ in range(200):
            data = bytearray(good)
            for _ in range(draw.randrange(1, 4)):
                data[draw.randrange(len(data))] = draw.randrange(256)
            try:
                self.bench.runner.load({}, bytes(data[:draw.choice([len(data), draw.randrange(len(data))])]))
            except Failure as failure:
                self.assertEqual(failure.fault, "candidate")

    def test_a_view_cannot_leave_its_storage(self) -> None:
        for size, stride, offset in (([16, 97], [96, 1], 0), ([16, 96], [96, 1], 1), ([2], [2**61], 0), ([1], [1], -4)):
            plan = linear_plan()
            plan.op("as_strided", X, size, stride, offset)
            self.assertEqual(failure_of(lambda: self.bench.runner.load({}, plan.bytes())).code, "operation_failed")

    def test_what_the_plan_must_not_name(self) -> None:
        for name, words in (("aten::rand", "not listed"), ("aten::set_", "not listed"), ("os::system", "not listed")):
            plan = linear_plan()
            plan.json["alternatives"][0]["ops"][0]["aten"] = name
            with self.assertRaisesRegex(Failure, words):
                self.bench.runner.load({}, plan.bytes())
        plan = linear_plan()
        plan.json["state"]["secret"] = 40
        with self.assertRaisesRegex(Failure, "'secret', which the reference does not have"):
            self.bench.runner.load({}, plan.bytes())
        plan = linear_plan()
        plan.json["inputs"][0]["shape"] = [16, 95]
        with self.assertRaisesRegex(Failure, "not those of the reference"):
            self.bench.runner.load({}, plan.bytes())


class Draws(unittest.TestCase):
    """What a plan may draw, and where."""

    DRAW = {"aten": "aten::randn", "overload": "default", "args": [[4, 4]], "kwargs": {"device": {"device": True}},
            "out": {"t": 50}, "draws": "cpu"}

    def checked(self, setup: list[Any] = [], call: list[Any] = [], draws: list[Any] = []) -> Any:  # noqa: B006
        plan = linear_plan()
        plan.json["setup"], plan.json["draws"] = setup, draws
        plan.json["alternatives"][0]["ops"] += call
        return check_plan(plan.json, [], (0, 0), CPU)

    def test_the_setup_may_draw(self) -> None:
        draw, seed = self.checked([self.DRAW, {"seed": -3, "draws": "cuda"}]).setup
        self.assertEqual((draw.draws, draw.frees, seed.seed, seed.which), ("cpu", [50], -3, "cuda"))

    def test_nothing_else_may(self) -> None:
        without = {key: value for key, value in self.DRAW.items() if key != "draws"}
        for setup, call in (([], [self.DRAW]), ([], [without]), ([without], []), ([], [{"seed": 1, "draws": "all"}]),
                            ([{**self.DRAW, "draws": "host"}], []), ([{**self.DRAW, "draws": ["cpu"]}], []),
                            ([{**self.DRAW, "aten": "aten::zeros"}], []), ([{**self.DRAW, "aten": "aten::randperm"}], []),
                            ([{**self.DRAW, "overload": "out"}], []), ([{"seed": 2**63, "draws": "all"}], []),
                            ([{"seed": 1, "draws": "cpu"}], []), ([{"seed": 1, "draws": "all", "out": {"t": 50}}], [])):
            with self.assertRaises(Failure, msg=(setup, call)) as caught:
                self.checked(setup, call)
            self.assertEqual(caught.exception.code, "bad_plan")

    def test_a_call_is_given_what_is_drawn_before_it(self) -> None:
        used = {"aten": "aten::neg", "overload": "default", "args": [{"t": 50}], "kwargs": {}, "out": {"t": 51}}
        scratch = {**used, "aten": "aten::zeros", "args": [[3]], "out": {"t": 49}}
        drawn = {**self.DRAW, "aten": "aten::rand_like", "args": [{"t": 49}], "out": {"t": 48}}
        plan = self.checked([], [used], [scratch, drawn, self.DRAW, {"seed": 1, "draws": "all"}])
        self.assertEqual((plan.drawn, plan.draws[1].frees), ([50], [49, 48]))
        self.assertEqual(plan.alternatives[0].ops[-1].frees, [51])
        launch = {"launch": 0, "grid": [1, 1, 1], "args": []}
        for draws, told in (([{**scratch, "aten": "aten::ones"}], "other work"), ([launch], "launch's kernel"),
                            ([used], "tensor"), ([{**self.DRAW, "out": {"t": 0}}], "id of another"),
                            ([{**drawn, "args": [{"t": 0}]}], "tensor"), ({}, "operations")):
            with self.assertRaisesRegex(Failure, told, msg=draws):
                self.checked([], [], draws)

    def test_dropout_draws_in_training_only(self) -> None:
        """Each operator of PyTorch that has such a switch, or is not listed."""
        found = set()
        for name in {schema.name for schema in torch._C._jit_get_all_schemas() if schema.name.startswith("aten::")}:
            packet = getattr(torch.ops.aten, name[6:])
            for function in (getattr(packet, overload) for overload in packet.overloads()):
                names = [argument.name for argument in function._schema.arguments]
                if torch.Tag.nondeterministic_seeded not in function.tags or not {"train", "training"}.intersection(names):
                    continue
                found.add(name[6:])
                args = [0.5 if each in ("p", "dropout") else False for each in names]
                self.assertFalse(operators.takes_numbers(function, args, {}), function)
                args = [True if each in ("train", "training") else arg for each, arg in zip(names, args)]
                self.assertTrue(operators.takes_numbers(function, args, {}), function)
        self.assertEqual({name for name in found if not operators.allowed(f"aten::{name}", "default")} - set(operators.NETWORKS.split()),
                         {"_cudnn_init_dropout_state", "_cudnn_rnn", "_lstm_mps", "miopen_rnn", "rrelu_with_noise_functional"})
        for train, right in ((False, True), (True, False)):
            call = {"aten": "aten::native_dropout", "overload": "default", "args": [X, 0.5, train], "kwargs": {},
                    "out": [{"t": 60}, {"t": 61}]}
            if right:
                self.checked([], [call])
            else:
                self.assertRaisesRegex(Failure, "aten::native_dropout.default draws", self.checked, [], [call])

    def test_views_in_place_have_a_safe_form(self) -> None:
        """All but those that exchange memory."""
        without = set()
        for name in {schema.name for schema in torch._C._jit_get_all_schemas() if schema.name.startswith("aten::")}:
            packet = getattr(torch.ops.aten, name[6:])
            for function in (getattr(packet, overload) for overload in packet.overloads()):
                if torch.Tag.inplace_view in function.tags or name[6:].startswith("unsafe_"):
                    safe = operators.safe_form(function)
                    if safe is None and not any(argument.is_out for argument in function._schema.arguments):
                        without.add(name[6:])
                    elif safe is not None:
                        self.assertTrue(operators.allowed(safe._schema.name, safe._overloadname), safe)
        self.assertEqual(without, {"resize_", "resize_as_", "set_"})

    def test_how_much_is_drawn_is_limited(self) -> None:
        bench = bench_for(self, LINEAR, slots=1)
        for shape in ([[1 << 15, 1 << 14]], [[2**40, 2**40]]):
            plan = linear_plan()
            plan.json["setup"] = [{**self.DRAW, "args": shape}]
            with self.assertRaisesRegex(Failure, "may draw 268435456 numbers at most"):
                bench.runner.load({}, plan.bytes())

    def test_each_program_draws_the_same(self) -> None:
        bench = bench_for(self, LINEAR, slots=1)
        drawn = []
        for seeds in ([], [], [{"seed": 5, "draws": "all"}]):
            plan = linear_plan()
            plan.json["setup"] = [*seeds, self.DRAW]
            plan.json["alternatives"][0]["ops"].append({**self.DRAW, "aten": "aten::neg", "args": [{"t": 50}], "kwargs": {},
                                                        "out": {"t": 51}})
            del plan.json["alternatives"][0]["ops"][-1]["draws"]
            bench.runner.load({}, plan.bytes())
            drawn.append(bench.runner._program._fixed[50].clone())
        self.assertTrue(torch.equal(drawn[0], drawn[1]))
        self.assertTrue(torch.equal(drawn[2], torch.randn([4, 4], generator=torch.Generator().manual_seed(5))))
        self.assertFalse(torch.equal(drawn[0], drawn[2]))


class Launches(unittest.TestCase):
    def plan(self, **changes: Any) -> Any:
        plan = linear_plan()
        kernel = {"name": "k", "offset": 0, "size": 4, "shared": 1024, "warps": 4, "ctas": 1, "global_scratch": 0,
                  "profile_scratch": 0, "registers": 8, "spills": 0}
        launch = {"launch": 0, "grid": [5, 1, 1], "args": [["*fp32", X], ["i32", 7], ["fp32", 0.5]], "line": "candidate.py:3"}
        kernel.update({k: v for k, v in changes.items() if k in kernel})
        launch.update({k: v for k, v in changes.items() if k in launch})
        plan.json["kernels"] = [kernel]
        plan.json["alternatives"][0]["ops"].append(launch)
        return check_plan(plan.json, [b"cubi"], changes.get("capability", (9, 0)), CPU)

    def test_a_launch_is_read(self) -> None:
        op = self.plan().alternatives[0].ops[-1]
        self.assertIsInstance(op, Launch)
        self.assertEqual((op.grid, op.args[1], op.line), ((5, 1, 1), ("i32", 7), "candidate.py:3"))

    def test_its_limits(self) -> None:
        for changes in ({"grid": [0, 1, 1]}, {"grid": [1, 65536, 1]}, {"grid": [1, 1]}, {"warps": 33}, {"shared": 1 << 20},
                        {"ctas": 17}, {"launch": 1}, {"args": [["*fp32", 5]]}, {"args": [["i32", 2**31]]},
                        {"args": [["i32", 0.5]]}, {"args": [["fp32", X]]}, {"args": [["nvTmaDesc", X]]},
                        {"args": [["*fp32", {"t": 99}]]}, {"name": "k\0"}, {"global_scratch": 1 << 40},
                        {"capability": (8, 0)}):
            with self.assertRaises(Failure, msg=changes) as caught:
                self.plan(**changes)
            self.assertEqual(caught.exception.code, "bad_plan")


class Lifetimes(unittest.TestCase):
    def test_a_tensor_is_freed_after_its_last_use(self) -> None:
        checked = check_plan(linear_plan().json, [], (0, 0), CPU).alternatives[0]
        self.assertEqual([op.frees for op in checked.ops], [[], [3], [4]])
        self.assertEqual(checked.outputs[0].id, 5)
