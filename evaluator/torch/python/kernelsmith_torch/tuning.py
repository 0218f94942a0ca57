"""Records autotuned launches: an alternative for each configuration, up to the limit of a plan. The
candidate's own pruning (early_config_prune, perf_model) selects configurations. If too many are left, an even
spread of them is taken.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

from triton.runtime.autotuner import Autotuner, Config

from .plan_format import MOST_ALTERNATIVES
from .recording import Choice, Refused, Step, Tape

# The fewest configurations of each further tuned kernel.
_LEAST = 2


class NotCompiled(Refused):
    """A kernel or one of its configurations does not compile for the device or does not fit on it."""

    def __init__(self, message: str, where: str) -> None:
        super().__init__("triton_compile", message[:4000], "", where)


class Tuning:
    """Stands in for Triton's autotuner. `again` means that Triton's cache already has the kernels."""

    def __init__(self, tape: Tape, again: bool) -> None:
        self._tape, self._again = tape, again
        self._choosing = False
        self._held = 1  # the number of alternatives so far
        self._chosen: dict[Any, list[Config]] = {}
        self._launched: set[int] = set()

    def install(self) -> None:
        Autotuner.run = lambda tuner, *args, **kwargs: self._run(tuner, args, kwargs)
        # Tuners that a library derives would measure configurations themselves.
        Autotuner.__init_subclass__ = classmethod(lambda cls: setattr(cls, "run", Autotuner.run))

    def _run(self, tuner: Autotuner, args: tuple, kwargs: dict[str, Any]) -> Any:
        """Like Triton's call of a tuned kernel, for each configuration."""
        tuner.nargs = dict(zip(tuner.arg_names, args))
        given = {k: v for k, v in {**tuner.nargs, **kwargs}.items() if k in tuner.arg_names}
        configs = _pruned(tuner, kwargs) if len(tuner.configs) > 1 else tuner.configs
        if kwargs.get("warmup") or len(configs) == 1:
            return with_config(tuner, configs[0], args, kwargs)
        group = (id(tuner), *(str(given.get(k)) for k in tuner.keys),
                 *(str(v.dtype) for v in given.values() if hasattr(v, "dtype")))
        if group not in self._chosen:
            self._chosen[group] = self._share(tuner, configs, kwargs)
        chosen = self._chosen[group]

        def launch(config: Config, warmup: bool) -> Any:
            return with_config(tuner, config, args, {**kwargs, "warmup": True} if warmup else kwargs)

        compiled = self.choose(group, tuner.base_fn.__name__, chosen, launch,
                               len(configs) - len(chosen))
        tuner.best_config = chosen[compiled[0]]
        tuner.nargs = None
        return compiled[1]

    def choose_among(self, group: Any, kernel: str, configs: list[Config], launch: Any) -> None:
        """Like choose(), for an autotuner whose pruning is unknown: takes an even spread of its
        configurations."""
        if len(configs) == 1:
            launch(configs[0], False)
            return
        chosen = self._chosen.setdefault(group, spread(configs, max(_LEAST, (MOST_ALTERNATIVES - self._held) // 2 + 1)))
        self.choose(group, kernel, chosen, launch, len(configs) - len(chosen))

    def choose(self, group: Any, kernel: str, configs: list[Config], launch: Any, left_out: int) -> tuple[int, Any]:
        """Records launch(config, warmup=False) of each configuration as an option. Returns the first one that
        compiles, and its kernel."""
        if self._choosing:
            raise Refused("not_allowed", "an autotuned kernel is launched by a hook of another", "", self._tape.line())
        words = f"compiling {len(configs)} configurations of {kernel}"
        self._tape.progress.doing(words)
        if not self._again:
            _compile_side_by_side([lambda config=config: launch(config, True) for config in configs],
                                  lambda: self._tape.progress.doing(words, compiled=1))
        options: list[list[Step] | None] = []
        first = problem = None
        for index, config in enumerate(configs):
            steps: list[Any] = []
            self._choosing = True
            self._tape.progress.doing(f"compiling {kernel} with {name_of(config)}")
            try:
                with self._tape.into(steps):
                    compiled = launch(config, False)
                first = first or (index, compiled)
                options.append(steps)
            except NotCompiled as error:
                problem = error
                options.append(None)
            finally:
                self._choosing = False
        if first is None:
            raise problem
        self._held += sum(steps is not None for steps in options) - 1 if group not in self._launched else 0
        self._launched.add(group)
        self._tape.choice(Choice(group, kernel, [name_of(config) for config in configs], options, left_out))
        return first

    def _share(self, tuner: Autotuner, configs: list[Config], kwargs: dict[str, Any]) -> list[Config]:
        """A share of the remaining alternatives: one for each of the candidate's tuned kernels that was not launched
        yet. The number of other kernels is unknown: they get half."""
        waiting = {id(each) for each in _tuners() if len(each.configs) > 1} - {group[0] for group in self._chosen}
        among = len(waiting | {id(tuner)}) if id(tuner) in map(id, _tuners()) else 2
        most = max(_LEAST, (MOST_ALTERNATIVES - self._held) // among + 1)
        if tuner.perf_model is None or len(configs) <= most:
            return spread(configs, most)
        tuner.configs_top_k = most
        return tuner.prune_configs(kwargs)[:most]


def _tuners() -> list[Autotuner]:
    """The candidate's own tuned kernels, from its module."""
    found = []
    for value in list(getattr(sys.modules.get("candidate"), "__dict__", {}).values()):
        while value is not None and not isinstance(value, Autotuner):
            value = getattr(value, "fn", None) if type(value).__module__.startswith("triton.") else None
        found += [value] if value is not None else []
    return found


def spread(items: list[Any], most: int) -> list[Any]:
    """At most `most` of them at even distances, with the first and the last."""
    if len(items) <= most:
        return items
    return [items[round(i * (len(items) - 1) / max(1, most - 1))] for i in range(most)]


def _pruned(tuner: Autotuner, kwargs: dict[str, Any]) -> list[Config]:
    """Applies the candidate's pruning. Its performance model may need a real driver; then it is skipped."""
    try:
        return tuner.prune_configs(kwargs)
    except Exception:  # noqa: BLE001 - a candidate's function raises what it likes
        if tuner.perf_model is None:
            raise
        tuner.perf_model = None
        return tuner.prune_configs(kwargs)


def with_config(tuner: Autotuner, config: Config, args: tuple, kwargs: dict[str, Any]) -> Any:
    named = config.all_kwargs()
    if conflicts := kwargs.keys() & config.kwargs.keys():
        raise ValueError(f"Conflicting meta-parameters: {', '.join(sorted(conflicts))}.")
    if config.pre_hook is not None and not kwargs.get("warmup"):
        config.pre_hook({**tuner.nargs, **kwargs, **named})
    return tuner.fn.run(*args, **{**kwargs, **named})


def name_of(config: Config) -> str:
    named = {k: v for k, v in config.all_kwargs().items() if not (k == "num_ctas" and v == 1)}
    return " ".join(f"{k}={v}" for k, v in named.items())


def _compile_side_by_side(compilations: list[Any], one_ended: Callable[[], None]) -> None:
    """Fills Triton's cache in separate processes: a configuration takes about a second. A failing configuration fails
    again in its turn, and is reported then."""
    at_once = len(os.sched_getaffinity(0))
    if at_once == 1:
        return
    running = 0
    for compilation in compilations:
        if running == at_once:
            os.wait()
            one_ended()
            running -= 1
        try:
            child = os.fork()
        except OSError:
            break
        if child == 0:
            try:
                compilation()
            finally:
                os._exit(0)
        running += 1
    for _ in range(running):
        os.wait()
        one_ended()
