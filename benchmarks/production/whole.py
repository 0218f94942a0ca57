"""From a model to a faster model: profile, a search for each of three tasks, packages, and the packages in the whole."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

from place import Place
from steps import side_by_side
from subjects import MODELS, Model, candidate_of, made_of, seeded

_FORECAST_OFF = 0.02  # two points
_SPREAD = 0.005


class Whole:
    """One model on its way. `tasks` are the names that are still worth going on with."""

    def __init__(self, place: Place, model: Model) -> None:
        self.place, self.model = place, model
        self.sizes = model.sizes if place.on_gpu else model.small
        self.folder = place.scratch / model.name
        self.folder.mkdir()
        self.file = made_of(model, self.sizes, self.folder / f"{model.name}.py")
        self.tasks: list[str] = []

    def profile(self) -> None:
        name, out = f"{self.model.name}, profile", self.folder / "profile"
        if self.place.kernelsmith(name, "profile", self.file, "--out", out, *self.model.options, limit_s=90) is None:
            return
        told: dict[str, Any] = json.loads((out / "profile.json").read_text())
        words = [f"{task['name']} {100 * task['share']:.0f} %" + (f" ({task['why_not']})" if task["why_not"] else "")
                 for task in told["tasks"]]
        made = [task["name"] for task in told["tasks"] if not task["why_not"]]
        self.place.steps.say(name, len(made) == 3, f"a step takes {told['step_us']:.0f} us; {', '.join(words)}",
                             table=(out / "profile.md").read_text())
        for task in made:
            try:
                seeded(out / "tasks" / task, candidate_of(self.model, task, self.sizes), task in self.model.rounds)
                self.tasks.append(task)
            except KeyError:
                self.place.steps.say(name, False, f"the task {task} is one for which there is no candidate")

    def search(self, task: str) -> None:
        if not self.place.searched(self._name(task), self.folder / "profile" / "tasks" / task, self.folder / f"{task}.run"):
            self.tasks.remove(task)

    def publish(self, task: str) -> None:
        name = f"{self.model.name}_{task}"
        if not self.place.published(self._name(task), self.folder / f"{task}.run", self.folder / task, "module", "--name", name):
            self.tasks.remove(task)

    def apply(self, task: str) -> None:
        few = () if self.place.on_gpu else ("--pairs", 6, "--steps", 1)
        dtype = [option for option in self.model.options if option in ("--dtype", "bf16")]
        package = self.folder / task
        said = self.place.kernelsmith(f"{self._name(task)}, apply", "apply", package, self.file, "--measure", *dtype, *few,
                                      limit_s=60)
        if said is not None:
            self._judge(task, json.loads((package / "whole.json").read_text()))

    def _judge(self, task: str, told: dict[str, Any]) -> None:
        say, whole, off = self.place.steps.say, told["whole"], told["whole"]["ratio"] - told["forecast"]
        name = f"{self._name(task)}, apply"
        agreed = [f"{each['dtype']} off by {each['swapped_error']:.1e}, as it is by {each['own_error']:.1e}"
                  for each in told["agreements"]]
        say(f"{name}: outputs", all(each["agrees"] for each in told["agreements"]), "; ".join(agreed), whole=told)
        say(f"{name}: gain", abs(off) <= _FORECAST_OFF or not self.place.on_gpu,
            f"{whole['ratio']:.3f}x [{whole['low']:.3f}, {whole['high']:.3f}], {whole['old_us']:.0f} to {whole['new_us']:.0f} us; "
            f"forecast {told['forecast']:.3f}x, of {100 * told['share']:.1f} % at {told['modules']['ratio']:.2f}x: "
            f"off by {100 * off:+.1f} points")
        say(f"{name}: spread", whole["spread"] <= _SPREAD or not self.place.on_gpu, f"{100 * whole['spread']:.2f} %")

    def _name(self, task: str) -> str:
        return f"{self.model.name}, {task}"


def made(place: Place) -> list[Whole]:
    """Both models, profiled one after the other: each measures."""
    wholes = [Whole(place, model) for model in MODELS]
    side_by_side([whole.profile for whole in wholes], 1 if place.on_gpu else 2)
    return wholes


def each_task(wholes: list[Whole], step: str) -> list[Any]:
    """A call for each task that is left."""
    return [partial(getattr(whole, step), task) for whole in wholes for task in whole.tasks]
