"""The plan as bytes (docs/torch-plan.md): "KSTORCH1", the JSON's length (u32, little endian), the JSON, the cubins.

`decode` reads untrusted bytes. It only guarantees that the JSON is an object of this version and that the cubins
of every kernel and module are within the file.
"""

from __future__ import annotations

import json
import struct
from typing import Any

from .module_figures import figures_of, variable_bytes

MAGIC = b"KSTORCH1"
VERSION = 1

MOST_BYTES = 256 << 20
MOST_JSON = 64 << 20
MOST_ALTERNATIVES = 32
MOST_KERNELS = 256
MOST_MODULES = 64
MOST_VARIABLES = 64 << 20  # of all modules, because they are loaded again for every batch
# Operators and launches of one alternative, or of the setup. The largest module of KernelBench records 517.
MOST_OPERATIONS = 20_000
# The limit of constants in a plan: enough for tables and masks, not for weights.
MOST_CONSTANT = 4_096
MOST_CONSTANTS = 65_536

_SIZE = struct.Struct("<I")


class PlanError(Exception):
    """The bytes are not a plan, or the plan exceeds a limit."""


def encode(plan: dict[str, Any], cubins: list[bytes], modules: list[bytes] = []) -> bytes:
    """The plan's bytes; sets offset and size of its kernels and of extensions' modules. Raises PlanError if it
    exceeds a limit."""
    if len(cubins) > MOST_KERNELS:
        raise PlanError(f"{len(cubins)} compiled kernels: at most {MOST_KERNELS}")
    if len(modules) > MOST_MODULES:
        raise PlanError(f"{len(modules)} compiled units of extensions: at most {MOST_MODULES}")
    variables = sum(map(variable_bytes, modules))
    if variables > MOST_VARIABLES:
        raise PlanError(f"{variables} bytes of __device__ and __constant__ variables: at most {MOST_VARIABLES}, because they "
                        "are loaded again for each batch")
    places, offset = [], 0
    for cubin in (*cubins, *modules):
        places.append({"offset": offset, "size": len(cubin)})
        offset += len(cubin)
    kernels = [{**kernel, **place} for kernel, place in zip(plan["kernels"], places[:len(cubins)], strict=True)]
    told = [{**place, **figures_of(plan, number, module)}
            for number, (place, module) in enumerate(zip(places[len(cubins):], modules, strict=True))]
    text = json.dumps({**plan, "kernels": kernels, "modules": told}, separators=(",", ":"), allow_nan=False).encode()
    if len(text) > MOST_JSON:
        raise PlanError(f"{len(text)} bytes of operations: at most {MOST_JSON}")
    return b"".join([MAGIC, _SIZE.pack(len(text)), text, *cubins, *modules])


def decode(data: bytes) -> tuple[dict[str, Any], list[bytes]]:
    """The plan's JSON and its cubins, in the order of `kernels` and then of `modules`. Raises PlanError for invalid
    bytes."""
    start = len(MAGIC) + _SIZE.size
    if len(data) > MOST_BYTES or data[:len(MAGIC)] != MAGIC or len(data) < start:
        raise PlanError(f"not a plan: it begins with {MAGIC.decode()} and has at most {MOST_BYTES} bytes")
    (size,) = _SIZE.unpack_from(data, len(MAGIC))
    if size > MOST_JSON or size > len(data) - start:
        raise PlanError("not a plan: its JSON is longer than the file or the limit")
    try:
        plan = json.loads(data[start:start + size], parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise PlanError(f"not a plan: {error}") from None
    if not isinstance(plan, dict) or plan.get("version") != VERSION:
        raise PlanError(f"not a plan of version {VERSION}")
    _count(plan)
    all_of_them = memoryview(data)[start + size:]
    cubins = [_cubin(told, all_of_them) for told in (*plan["kernels"], *plan.get("modules", []))]
    if sum(map(len, cubins)) > len(all_of_them):
        raise PlanError("the cubins of the plan overlap")  # otherwise copies could fill the memory
    return plan, [bytes(cubin) for cubin in cubins]


def _count(plan: dict[str, Any]) -> None:
    for what, listed, most in (("kernels", plan.get("kernels"), MOST_KERNELS),
                               ("modules", plan.get("modules", []), MOST_MODULES)):
        if not isinstance(listed, list) or len(listed) > most:
            raise PlanError(f"a plan has a list of at most {most} {what}")


def _cubin(kernel: Any, cubins: memoryview) -> memoryview:
    offset, size = (kernel.get(key) if isinstance(kernel, dict) else None for key in ("offset", "size"))
    if type(offset) is not int or type(size) is not int or not 0 <= offset <= offset + size <= len(cubins):
        raise PlanError("a cubin lies outside the plan")
    return cubins[offset:offset + size]


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
