"""Turns the tape into the plan: drops steps without effect, refuses steps that are not allowed, and renumbers. An
operator is kept if its result is used, or if it writes into memory that is used or outlives the call. A call keeps
everything that takes time in plain PyTorch: launches, and operators that do more than allocate or make views. The
state has the reference's values, so the constructor's writes to it are dropped.
"""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import torch

from . import draws, operators
from .layout import Arrangement
from .plan_format import MOST_ALTERNATIVES, MOST_CONSTANT, MOST_CONSTANTS, VERSION
from .recording import Choice, Refused, Step, Tape, float_value, name_of, storage_of, values_of


MOST_ERROR = 2_000
"""The most characters of a compiler's words that a summary quotes."""


@dataclass
class Module:
    """The traced module. Its tensors are numbers of the tape."""

    inputs: list[int]
    state: dict[str, int]
    own_lies: set[str] = field(default_factory=set)  # state whose layout differs between candidate and reference
    outputs: list[int] = field(default_factory=list)


def assemble(tape: Tape, module: Module, kernels: list[dict[str, Any]],
             arch: int | str) -> tuple[dict[str, Any], list[int], list[int], dict[str, Any]]:
    """The plan, the numbers of its kernels in `kernels` and of its modules among the extensions' modules, and
    its summary. Raises Refused if a kept operator is not allowed in a plan."""
    assembly = _Assembly(tape, module)
    plan, left_out = assembly.plan(arch)
    plan["kernels"] = [kernels[i] for i in assembly.kernels]
    return plan, list(assembly.kernels), list(assembly.modules), _summary(plan, left_out)


class _Assembly:
    def __init__(self, tape: Tape, module: Module) -> None:
        self._tape, self._module = tape, module
        self._state = {self._geometry(n): n for n in module.state.values()}
        self._state_storages = {tape.storages[n] for n in module.state.values()}
        self._state_in = {tape.storages[n]: n for n in module.state.values()}
        self.kernels: dict[int, int] = {}  # the recording's numbers, mapped to the plan's
        self.modules: dict[int, int] = {}
        self._ids: dict[int, int] = {}
        self._constants: dict[int, dict[str, Any]] = {}
        self._numbers_of_constants = 0

    def plan(self, arch: int | str) -> tuple[dict[str, Any], int]:
        """The plan without its kernels, and the number of omitted alternatives."""
        tape, module = self._tape, self._module
        chosen, left_out = _alternatives(tape.call)
        outlive = self._state_storages | {tape.storages[n] for n in module.inputs} | {
            tape.storages[n] for step in tape.setup for n in getattr(step, "results", [])}
        kept = []
        needed: set[int] = set()
        for _, steps in chosen:
            steps, before = self._live(steps, set(module.outputs), outlive, in_call=True)
            kept.append(steps)
            needed |= before
        needed -= set(module.inputs)
        before = _flat(tape.setup, {})
        made, missing = self._live(before, needed - self._state_numbers(needed), set(), self._state_storages)
        made = draws.with_earlier(made, before, tape)
        drawn, kept = draws.before_calls(kept, tape.call, tape)
        self._by_strides = {tape.storages[n] for step in itertools.chain(made, *kept) if step.is_launch or step.is_of_extension
                            or step.body.get("aten") == "aten::as_strided" for n in step.reads}
        self._refuse_copied_tables(made)
        self._check(made, drawn, kept, missing - set(module.inputs) - self._state_numbers(missing))

        lies = Arrangement.of(tape.tensors[n] for n in module.inputs).told()
        inputs = [{"id": self._id(n), **lie} for n, lie in zip(module.inputs, lies)]
        for step in made:
            if step.constant is not None:
                self._constant(step, step.results[0])
        setup = [self._body(step) for step in made if step.constant is None]
        alternatives = []
        written = {storage for steps in kept for step in steps for storage in step.writes}
        for (name, _), steps in zip(chosen, kept):
            ops = [body for step in steps for body in self._in_call(step, written)]
            alternatives.append({"name": name, "ops": ops, "outputs": [
                {"id": self._id(n), **self._shape(n), "stride": list(tape.tensors[n].stride())} for n in module.outputs]})
        used = {n for step in itertools.chain(made, *kept) for n in self._reads(step)} | {
            self._canonical(n) for n in module.outputs}
        state = {name: n for name, n in module.state.items() if self._canonical(n) in used}
        own = [entry for name in sorted(module.own_lies & state.keys()) for entry in self._laid_out(name, state[name])]
        plan = {
            "version": VERSION, "arch": arch, "inputs": inputs,
            "state": {name: self._id(("given", name) if name in module.own_lies else n) for name, n in state.items()},
            "setup": [*own, *self._constants.values(), *setup], "alternatives": alternatives}
        if drawn:
            plan["draws"] = [self._body(step) for step in drawn]
        return plan, left_out

    def _laid_out(self, name: str, number: int) -> list[dict[str, Any]]:
        """The steps that copy a parameter of the reference into the candidate's layout."""
        tensor, own, given = self._tape.tensors[number], {"t": self._id(number)}, {"t": self._id(("given", name))}
        return [{"aten": "aten::empty_strided", "overload": "default", "args": [list(tensor.shape), list(tensor.stride())],
                 "kwargs": {"dtype": {"dtype": name_of(tensor.dtype)}, "device": {"device": True}}, "out": own},
                {"aten": "aten::copy_", "overload": "default", "args": [own, given], "kwargs": {}, "out": own}]

    def _live(self, steps: list[Step], roots: set[int], outlive: set[int],
              given: set[int] = frozenset(), in_call: bool = False) -> tuple[list[Step], set[int]]:
        """The steps that have an effect, and the tensors that must exist before them. A write into a storage
        of `given` is an effect only if `outlive` has the storage, too."""
        live = set(map(self._canonical, roots))
        storages = outlive | ({self._tape.storages[n] for n in live} | self._pointed_at(steps)) - given
        kept = []
        for step in reversed(steps):
            fresh = [self._canonical(n) for n in step.results if n not in step.reads]
            if not (step.is_launch or not live.isdisjoint(fresh) or not storages.isdisjoint(step.writes)
                    or in_call and _takes_time(step)):
                continue
            kept.append(step)
            live.difference_update(fresh)
            for n in self._reads(step):
                if not (given and n in self._state_numbers({n})):
                    live.add(n)
                    storages |= {self._tape.storages[n]} - given
        return kept[::-1], live

    def _pointed_at(self, steps: list[Step]) -> set[int]:
        """Storages whose addresses are stored in memory: a kernel that uses them names only that memory."""
        return {self._tape.storages[pointed["t"]] for step in steps if not step.body.keys().isdisjoint(("upload", "symbol"))
                for _, pointed, _ in step.body.get("pointers", ())}

    def _refuse_copied_tables(self, made: list[Step]) -> None:
        """The runner moves the setup's tensors, and writes new addresses only where the setup uploaded the old ones."""
        tables: set[int] = set()
        for step in made:
            if "upload" in step.body:
                tables |= step.writes if step.body["pointers"] else set()
            elif "from" in step.body:
                if self._tape.storages[step.body["from"]["t"]] in tables:
                    raise self._copied_table("cudaMemcpy", step)
            elif not step.is_launch:
                read = tables.intersection(self._tape.storages[n] for n in step.reads)
                if len(read) > 1 or read and not step.writes.union(self._tape.storages[n] for n in step.results) <= read:
                    raise self._copied_table(step.body["aten"], step)

    @staticmethod
    def _copied_table(what: str, step: Step) -> Refused:
        return Refused("not_allowed", f"{what} copies a table of pointers that the constructor uploaded: the copy's "
                       "addresses are not those that its tensors have in a call",
                       "upload the table itself to where it is used, or copy it in forward", step.where)

    def _check(self, made: list[Step], drawn: list[Step], kept: list[list[Step]], missing: set[int]) -> None:
        for step in itertools.chain(made, drawn, *kept):
            if "aten" not in step.body or not step.draws and operators.allowed(step.body["aten"], step.body["overload"]):
                continue
            name = step.body["aten"] + ("" if step.body["overload"] == "default" else "." + step.body["overload"])
            if not step.draws:
                raise Refused("not_allowed", f"{name} cannot be part of a plan", "use operators that keep shapes", step.where)
            before_call = any(step is each for each in drawn) and operators.is_given(step.body["aten"], step.body["overload"])
            if not before_call and not any(step is each for each in made):
                raise Refused("not_allowed", f"{name} draws in a call, which can only be given numbers that depend on shapes alone",
                              "draw with torch.rand, torch.randn, uniform_ or normal_", step.where)
            if not operators.draws(step.body["aten"], step.body["overload"]):
                raise Refused("not_allowed", f"{name} is not among the draws that a constructor may make",
                              "draw with torch.rand, torch.randn, uniform_ or normal_", step.where)
        if missing:
            tensor = self._tape.tensors[min(missing)]
            raise Refused("plan_failed", f"a tensor of shape {list(tensor.shape)} was made where nothing is recorded",
                          "make it in the constructor or in forward, with PyTorch's operators")

    def _in_call(self, step: Step, written: set[int]) -> list[dict[str, Any]]:
        """A constant is made once; a call that writes into one works on a copy."""
        if step.constant is None:
            return [self._body(step)]
        number = step.results[0]
        if self._tape.storages[number] not in written:
            self._constant(step, number)
            return []
        original = self._constant(step, ("original of", number))
        return [{"aten": "aten::clone", "overload": "default", "args": [original["out"]], "kwargs": {},
                 "out": {"t": self._id(number)}}]

    def _constant(self, step: Step, number: Any) -> dict[str, Any]:
        if number not in self._constants:
            tensor, size = step.constant, step.constant.numel()
            self._numbers_of_constants += size
            if size > MOST_CONSTANT or self._numbers_of_constants > MOST_CONSTANTS or tensor.is_complex():
                raise Refused("not_allowed", f"a constant tensor of {size} numbers: at most {MOST_CONSTANT}, "
                              f"{MOST_CONSTANTS} in all, and none complex", "compute it with PyTorch's operators", step.where)
            self._tape.refuse_addresses(values_of(tensor), "a number of a constant tensor", step.where)
            values = [float_value(v) if isinstance(v, float) else v for v in values_of(tensor)]
            self._constants[number] = {
                "constant": {"dtype": name_of(tensor.dtype), "shape": list(tensor.shape), "values": values},
                "out": {"t": self._id(number)}}
        return self._constants[number]

    def _body(self, step: Step) -> dict[str, Any]:
        if "seed" in step.body:
            return step.body
        if step.is_of_extension:
            return self._work(step)
        if not step.is_launch:
            self._tape.refuse_addresses([step.body["args"], step.body["kwargs"]], f"an argument of {step.body['aten']}",
                                        step.where)
        body = {key: self._renumbered(v) if key in ("args", "kwargs", "out") else v for key, v in step.body.items()}
        if step.is_launch:
            body["launch"] = self.kernels.setdefault(step.body["launch"], len(self.kernels))
        elif self._is_read_by_strides(step):
            body["strides"] = [list(self._tape.tensors[n].stride()) for n in step.results]
        return body

    def _is_read_by_strides(self, step: Step) -> bool:
        """Whether a kernel reads the operator's result, and so relies on its strides."""
        storages = self._tape.storages
        fresh = {storages[n] for n in step.results} - {storages[n] for n in step.reads}
        return not fresh.isdisjoint(self._by_strides)

    def _work(self, step: Step) -> dict[str, Any]:
        """The plan's entry for an extension's work. Its tensors represent their storages."""
        body = dict(step.body)
        for key, v in body.items():
            if isinstance(v, dict):
                body[key] = {"t": self._id(self._holder(v["t"]))}
        if "pointers" in body:
            body["pointers"] = [[at, {"t": self._id(self._holder(v["t"]))}, byte] for at, v, byte in body["pointers"]]
        for key in ("run", "symbol"):
            if key in body:
                body[key] = self.modules.setdefault(body[key], len(self.modules))
        return body

    def _reads(self, step: Step) -> list[int]:
        return [self._holder(n) if step.is_of_extension else self._canonical(n) for n in step.reads]

    def _holder(self, number: int) -> int:
        """A parameter of the reference covers its whole storage."""
        return self._state_in.get(self._tape.storages[number], number)

    def _renumbered(self, v: Any) -> Any:
        if isinstance(v, dict):
            return {"t": self._id(v["t"])} if "t" in v else {k: self._renumbered(each) for k, each in v.items()}
        return [self._renumbered(each) for each in v] if isinstance(v, list) else v

    def _id(self, number: Any) -> int:
        number = self._canonical(number) if isinstance(number, int) else number
        return self._ids.setdefault(number, len(self._ids))

    def _canonical(self, number: int) -> int:
        """A tensor with the place of a parameter of the reference is that parameter."""
        if self._tape.storages[number] not in self._state_storages:
            return number
        return self._state.get(self._geometry(number), number)

    def _state_numbers(self, numbers: set[int]) -> set[int]:
        return numbers & set(self._state.values())

    def _geometry(self, number: int) -> tuple:
        tensor = self._tape.tensors[number]
        return (storage_of(tensor), tensor.storage_offset(), tuple(tensor.shape), tensor.stride(), tensor.dtype)

    def _shape(self, number: int) -> dict[str, Any]:
        tensor = self._tape.tensors[number]
        return {"dtype": name_of(tensor.dtype), "shape": list(tensor.shape)}


def _takes_time(step: Step) -> bool:
    """Whether the step is an operator that is allowed in a plan and that plain PyTorch would run even if
    unused."""
    return "aten" in step.body and step.constant is None and not step.draws and operators.allowed(
        step.body["aten"], step.body["overload"]) and operators.does_work(step.body["aten"])


def _alternatives(call: list[Step | Choice]) -> tuple[list[tuple[str, list[Step]]], int]:
    """Names and steps of the alternatives: every autotuned kernel with its first configuration, then, one
    kernel at a time, with another configuration. Also returns the number of omitted alternatives."""
    groups: dict[Any, list[Choice]] = {}
    for step in call:
        if isinstance(step, Choice):
            groups.setdefault((step.group, *step.names), []).append(step)
    compiled = {}
    for key, choices in groups.items():
        compiled[key] = [i for i in range(len(choices[0].names)) if all(c.options[i] is not None for c in choices)]
        if not compiled[key]:
            raise Refused("triton_compile", f"no configuration of {choices[0].kernel} compiles for each of its launches")

    def named(key: Any, i: int) -> str:
        name = groups[key][0].names[i]
        return name if len(groups) == 1 else f"{groups[key][0].kernel}: {name}"

    base = {key: indices[0] for key, indices in compiled.items()}
    variations = [[(key, i) for i in indices[1:]] for key, indices in compiled.items()]
    turns = [each for turn in itertools.zip_longest(*variations) for each in turn if each is not None]
    first = "; ".join(named(key, i) for key, i in base.items()) or "only"
    told = [(first, _flat(call, base))]
    told += [(named(key, i), _flat(call, {**base, key: i})) for key, i in turns[:MOST_ALTERNATIVES - 1]]
    left_out = sum(choices[0].left_out for choices in groups.values())
    return told, left_out + max(0, len(turns) + 1 - MOST_ALTERNATIVES)


def _flat(steps: list[Step | Choice], chosen: dict[Any, int]) -> list[Step]:
    flat: list[Step] = []
    for step in steps:
        if isinstance(step, Choice):
            key = (step.group, *step.names)
            flat += step.options[chosen[key]] if key in chosen else next(o for o in step.options if o is not None)
        else:
            flat.append(step)
    return flat


def _summary(plan: dict[str, Any], left_out: int) -> dict[str, Any]:
    """The summary of the first alternative."""
    ops = plan["alternatives"][0]["ops"]
    launches = [op.get("kernel") or plan["kernels"][op["launch"]]["name"] for op in ops if "launch" in op or "run" in op]
    return {
        "operators": dict(Counter(op["aten"] for op in ops if "aten" in op)), "launches": len(launches),
        "heavy": dict(Counter(op["aten"] for op in ops if "aten" in op and operators.is_heavy(op["aten"]))),
        "own_kernels": sorted(set(launches)), "setup": len(plan["setup"]), "alternatives": len(plan["alternatives"]),
        "alternatives_left_out": left_out, "kernels": len(plan["kernels"])}


def describe(summary: dict[str, Any]) -> str:
    """The summary in words."""
    counted = sorted(summary["operators"].items(), key=lambda item: (-item[1], item[0]))
    lines = [f"{summary['launches']} launches of {', '.join(summary['own_kernels'])}" if summary["launches"] else
             "no kernel of its own",
             f"{sum(summary['operators'].values())} operators" + "".join(
                 f"{', ' if i else ': '}{name.removeprefix('aten::')}" + (f" x{n}" if n > 1 else "")
                 for i, (name, n) in enumerate(counted[:24])) + (", ..." if len(counted) > 24 else "")]
    lines += [f"extension {told['name']} was not built ({told['line']}): {told['error'].strip()[:MOST_ERROR]}"
              for told in summary.get("extension_errors", [])]
    if summary["setup"]:
        lines.append(f"{summary['setup']} operators and constants before the first call")
    if summary["alternatives"] > 1:
        lines.append(f"{summary['alternatives']} alternatives of autotuned kernels" + (
            f", {summary['alternatives_left_out']} more left out" if summary["alternatives_left_out"] else ""))
    return "\n".join(lines) + "\n"
