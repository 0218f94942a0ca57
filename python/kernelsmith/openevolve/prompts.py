"""Prompts from templates with OpenEvolve's names and placeholders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from .config import Config
from .programs import Program
from .shown import filtered, tail
from .templates import Templates


class _Draws(Protocol):
    def below(self, n: int) -> int: ...


class Prompts:
    """Makes the two messages for a parent. Pure, except that it draws random numbers."""

    def __init__(self, config: Config, language: str) -> None:
        self._config = config
        self._prompt = config.prompt
        self._dimensions: list[str] = config.database.feature_dimensions
        self._language = language
        self._templates = Templates(config.prompt.template_dir)

    def build(self, parent: Program, score: float, top: Sequence[tuple[Program, float]],
              others: Sequence[tuple[Program, float]], *, diff: bool, island: int, draws: _Draws) -> dict[str, str]:
        """`top` are the island's best programs and `others` programs from elsewhere, each with its
        fitness."""
        previous = top[:self._prompt.num_top_programs]
        values = {
            "metrics": _listed(parent.metrics),
            "fitness_score": f"{score:.4f}",
            "feature_coords": self._coordinates(parent, score),
            "feature_dimensions": ", ".join(self._dimensions) or "None",
            "improvement_areas": self._remarks(parent, score, previous),
            "evolution_history": self._history(top, previous, others, draws),
            "current_program": parent.code,
            "language": self._language,
            "artifacts": self._artifacts(parent.artifacts),
        }
        name = "diff_user" if diff else "full_rewrite_user"
        return {"system": self._system(island),
                "user": self._templates.fill(self._varied(self._templates.texts[name], draws), name, values)}

    def _system(self, island: int) -> str:
        message: str = self._prompt.system_message
        own = self._prompt.island_system_messages
        if island < len(own) and own[island] is not None:
            message = own[island]
        return self._templates.texts.get(message, message)

    def _varied(self, text: str, draws: _Draws) -> str:
        if not self._prompt.use_template_stochasticity:
            return text
        for name, variations in self._prompt.template_variations.items():
            if variations and f"{{{name}}}" in text:
                text = text.replace(f"{{{name}}}", variations[draws.below(len(variations))])
        return text

    def _coordinates(self, program: Program, score: float) -> str:
        values = {"complexity": int(program.complexity), "diversity": program.diversity, "score": score, **program.metrics}
        shown = {name: values[name] for name in self._dimensions if name in values}
        return ", ".join(f"{name}={value if isinstance(value, int) else _rounded(value, 2)}" for name, value in shown.items())

    def _remarks(self, parent: Program, score: float, previous: Sequence[tuple[Program, float]]) -> str:
        said = []
        fragment = self._templates.fragment
        if previous:
            before = previous[-1][1]
            if score > before:
                said.append(fragment("fitness_improved", prev=before, current=score))
            elif score < before:
                said.append(fragment("fitness_declined", prev=before, current=score))
            else:
                said.append(fragment("fitness_stable", current=score))
        if self._dimensions:
            features = self._coordinates(parent, score)
            said.append(fragment("exploring_region", features=features) if features
                        else fragment("no_feature_coordinates"))
        threshold = self._prompt.suggest_simplification_after_chars or self._prompt.code_length_threshold
        if threshold and len(parent.code) > threshold:
            said.append(fragment("code_too_long", threshold=threshold))
        return "\n".join(f"- {one}" for one in said or [fragment("no_specific_guidance")])

    def _history(self, top: Sequence[tuple[Program, float]], previous: Sequence[tuple[Program, float]],
                 others: Sequence[tuple[Program, float]], draws: _Draws) -> str:
        attempts = [self._attempt(len(previous) - at, program)
                    for at, (program, _) in enumerate(reversed(previous[-3:]))]
        best = list(top[:self._prompt.num_top_programs])
        shown = [self._top(at, program, score, "top_program_metrics_prefix") for at, (program, score) in enumerate(best, 1)]
        parts = ["\n\n".join(shown)]
        rest = list(top[self._prompt.num_top_programs:])
        different = [rest.pop(draws.below(len(rest))) for _ in range(min(self._prompt.num_diverse_programs, len(rest)))]
        if different:
            parts.append("## " + self._templates.fragment("diverse_programs_title"))
            parts += [self._top(at, program, score, "diverse_program_metrics_prefix", "D")
                      for at, (program, score) in enumerate(different, 1)]
        seen = {program.id for program, _ in best + different}
        inspirations = [one for one in others if one[0].id not in seen]
        return self._templates.text("evolution_history", previous_attempts="\n\n".join(attempts),
                                    top_programs="\n\n".join(parts), inspirations_section=self._section(inspirations))

    def _attempt(self, number: int, program: Program) -> str:
        before = program.metadata.get("parent_metrics") or {}
        pairs = [(value, before.get(name, 0)) for name, value in program.metrics.items()
                 if before and isinstance(value, (int, float)) and isinstance(before.get(name, 0), (int, float))]
        outcome = "attempt_mixed_metrics"
        if pairs and all(now > then for now, then in pairs):
            outcome = "attempt_all_metrics_improved"
        elif pairs and all(now < then for now, then in pairs):
            outcome = "attempt_all_metrics_regressed"
        changes = program.changes_description or program.metadata.get("changes")
        return self._templates.text(
            "previous_attempt", attempt_number=number, outcome=self._templates.fragment(outcome),
            changes=changes or self._templates.fragment("attempt_unknown_changes"),
            performance=", ".join(f"{name}: {_rounded(value)}" for name, value in program.metrics.items()))

    def _top(self, number: int, program: Program, score: float, prefix: str, letter: str = "") -> str:
        label = self._templates.fragment(prefix)
        return self._templates.text(
            "top_program", program_number=f"{letter}{number}", score=f"{score:.4f}", language=self._language,
            program_snippet=program.code,
            key_features=", ".join(f"{label} {name} ({_rounded(value)})" for name, value in program.metrics.items()))

    def _section(self, others: Sequence[tuple[Program, float]]) -> str:
        if not others:
            return ""
        shown = [self._templates.text(
            "inspiration_program", program_number=at, score=f"{score:.4f}", program_type=self._type(program, score),
            language=self._language, program_snippet=program.code, unique_features=self._features(program, score))
            for at, (program, score) in enumerate(others, 1)]
        return self._templates.text("inspirations_section", inspiration_programs="\n\n".join(shown))

    def _type(self, program: Program, score: float) -> str:
        for mark in ("diverse", "migrant", "random"):
            if program.metadata.get(mark):
                return self._templates.fragment(f"inspiration_type_{mark}")
        for least, name in ((0.8, "high_performer"), (0.6, "alternative"), (0.4, "experimental")):
            if score >= least:
                return self._templates.fragment(f"inspiration_type_score_{name}")
        return self._templates.fragment("inspiration_type_score_exploratory")

    def _features(self, program: Program, score: float) -> str:
        fragment = self._templates.fragment
        found = []
        changes = program.metadata.get("changes")
        if isinstance(changes, str) and changes and len(changes) < (self._prompt.include_changes_under_chars or 0):
            found.append(fragment("inspiration_changes_prefix", changes=changes))
        for name, value in program.metrics.items():
            if isinstance(value, (int, float)) and value >= 0.9:
                found.append(fragment("inspiration_metrics_excellent", metric_name=name, value=value))
            elif isinstance(value, (int, float)) and value <= 0.3:
                found.append(fragment("inspiration_metrics_alternative", metric_name=name, value=value))
        found += [fragment(f"inspiration_code_with_{name}") for name in self._looks(program.code)]
        if not found:
            found = [fragment("inspiration_no_features_postfix", program_type=self._type(program, score))]
        return ", ".join(found[:max(1, self._prompt.num_top_programs)])

    def _looks(self, code: str) -> list[str]:
        lower, lines = code.lower(), len(code.split("\n"))
        looks = {
            "class": "class" in lower and "def __init__" in lower,
            "numpy": "numpy" in lower or "np." in lower,
            "mixed_iteration": "for" in lower and "while" in lower,
            "concise_line": lines <= (self._prompt.concise_implementation_max_lines or 0),
            "comprehensive_line": 0 < (self._prompt.comprehensive_implementation_min_lines or 0) <= lines,
        }
        return [name for name, holds in looks.items() if holds]

    def _artifacts(self, artifacts: Mapping[str, str]) -> str:
        if not self._prompt.include_artifacts or not artifacts:
            return ""
        parts = ["## " + self._templates.fragment("artifact_title")]
        for name, text in artifacts.items():
            kept = tail(filtered(text) if self._prompt.artifact_security_filter else text,
                        self._prompt.max_artifact_bytes)
            parts.append(f"### {name}\n```\n{kept}\n```")
        return "\n\n".join(parts)


def _rounded(value: Any, digits: int = 4) -> str:
    return f"{value:.{digits}f}" if isinstance(value, (int, float)) else str(value)


def _listed(metrics: Mapping[str, Any]) -> str:
    return "\n".join(f"- {name}: {_rounded(value)}" for name, value in metrics.items())
