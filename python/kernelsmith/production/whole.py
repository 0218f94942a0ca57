"""Checks that a model with a package still gives its results. Its error relative to fp64 may be as large as
that of the model without the package."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from .runtime.lies import relaid
from .models import Loaded
from .recorded import tensors
from .swap import Places
from .torch_here import torch_here


@dataclass(frozen=True)
class Agreement:
    """Errors are root mean squares over all outputs, relative to that of the answer in fp64. `served`: the
    calls that kernels served in a step."""

    dtype: str
    own_error: float
    swapped_error: float
    served: int
    agrees: bool

    def __str__(self) -> str:
        verdict = "agrees" if self.agrees else "DIFFERS"
        return (f"{self.dtype}: {verdict}; the model's error against fp64 is {self.own_error:.2e}, with the package "
                f"{self.swapped_error:.2e}; kernels served {self.served} calls")


def agreements(loaded: Loaded, package: Any, paths: list[str]) -> list[Agreement]:
    """The agreement in the model's own dtype, and also in bf16 if that dtype is fp32."""
    torch = torch_here()
    dtypes = {parameter.dtype for parameter in loaded.model.parameters()}
    [own] = dtypes if len(dtypes) == 1 else [torch.float32]
    truth = _outputs(_cast(loaded, torch.float64))
    found = [_agreement(loaded, package, paths, truth, str(own).removeprefix("torch."))]
    if own == torch.float32:
        found.append(_agreement(_cast(loaded, torch.bfloat16), package, paths, truth, "bfloat16"))
    return found


def _agreement(loaded: Loaded, package: Any, paths: list[str], truth: list[Any], dtype: str) -> Agreement:
    plain = _outputs(loaded)
    try:
        places = Places(loaded, package, paths)
    except Exception:  # the package serves no such dtype
        return Agreement(dtype, _error(plain, truth), _error(plain, truth), 0, True)
    before = places.served()
    places.put(True)
    try:
        swapped = _outputs(loaded)
    finally:
        places.put(False)
    own, other = _error(plain, truth), _error(swapped, truth)
    resolution = torch_here().finfo(getattr(torch_here(), dtype)).eps
    return Agreement(dtype, own, other, places.served() - before, other <= 2 * own + resolution)


def _outputs(loaded: Loaded) -> list[Any]:
    with torch_here().no_grad():
        return [output.double() for output in tensors(loaded.run()) if output.is_floating_point()]


def _error(given: list[Any], truth: list[Any]) -> float:
    torch = torch_here()
    apart = torch.cat([(one - exact).flatten() for one, exact in zip(given, truth, strict=True)])
    size = torch.cat([exact.flatten() for exact in truth])
    return float(apart.norm() / size.norm().clamp_min(1e-300))


def _cast(loaded: Loaded, dtype: Any) -> Loaded:
    """Makes the model again, because the closures of a copy would hold the modules of the original."""
    assert loaded.again is not None
    model = loaded.again().model
    with torch_here().no_grad():
        for target, source in zip(_held(model), _held(loaded.model), strict=True):
            target.copy_(source)
    args, kwargs = relaid((loaded.args, loaded.kwargs), lambda flat: flat.to(dtype) if flat.is_floating_point() else flat)
    return replace(loaded, model=model.to(dtype), args=args, kwargs=kwargs)


def _held(model: Any) -> list[Any]:
    return [*model.parameters(), *model.buffers()]
