"""Every key of OpenEvolve 0.4.1's YAML: its default, and what becomes of it here. docs/openevolve.md shows those
that work differently."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Key:
    """`use` is empty for a key that does what it does there; else what it does here, or what to use instead."""

    path: str
    default: Any
    honoured: bool = True
    use: str = ""


def _honoured(path: str, default: Any, use: str = "") -> Key:
    return Key(path, default, True, use)


def _inert(path: str, default: Any, use: str) -> Key:
    return Key(path, default, False, use)


_MODEL: tuple[tuple[str, Any], ...] = (
    ("api_base", None), ("api_key", None), ("temperature", None), ("top_p", None), ("max_tokens", None),
    ("timeout", None), ("retries", None), ("random_seed", None), ("reasoning_effort", None), ("system_message", None))
_MODEL_INERT: tuple[tuple[str, Any, str], ...] = (
    ("retry_delay", None, "pauses grow from 1 s with jitter, and a server's own Retry-After is kept"),
    ("max_budget_usd", None, "it belongs to a provider that is not here"),
    ("max_ai_credits", None, "it belongs to a provider that is not here"),
    ("allow_all_tools", None, "it belongs to a provider that is not here"),
    ("manual_mode", None, "kernelsmith run TASK --manual FOLDER takes people as the model (docs/llm.md)"))
PROVIDERS = "only `openai`; a command-line agent needs a server in front of it that speaks Chat Completions"

# Keys of one entry of llm.models.
MODEL_KEYS: tuple[Key, ...] = (
    _honoured("name", None), _honoured("weight", 1.0), _honoured("provider", None, PROVIDERS),
    _honoured("init_client", None, "an object with generate_with_context(), from Python only"),
    *(_honoured(name, default) for name, default in _MODEL),
    *(_inert(name, default, use) for name, default, use in _MODEL_INERT))

_LLM_DEFAULTS: dict[str, Any] = {"api_base": "https://api.openai.com/v1", "temperature": 0.7, "max_tokens": 4096,
                                 "timeout": 60, "retries": 3, "retry_delay": 5, "manual_mode": False,
                                 "system_message": "system_message"}
_LLM = tuple(Key(f"llm.{key.path}", _LLM_DEFAULTS.get(key.path, key.default), key.honoured, key.use)
             for key in MODEL_KEYS if key.path not in ("name", "weight", "init_client", "system_message"))

KEYS: tuple[Key, ...] = (
    _honoured("max_iterations", 10000),
    _honoured("checkpoint_interval", 100),
    _honoured("checkpoint_on_improvement", False),
    _honoured("log_level", "INFO"),
    _honoured("log_dir", None),
    _honoured("logger_prefix", None),
    _honoured("random_seed", 42, "the same seed, program and replies give the same search; null draws a seed"),
    _honoured("language", None),
    _honoured("file_suffix", ".py"),
    _honoured("diff_based_evolution", True),
    _honoured("full_rewrite_probability", 0.0),
    _honoured("max_code_length", 10000),
    _honoured("enforce_evolve_blocks", False, "always true: edits outside the markers are put back"),
    _honoured("diff_pattern", r"<<<<<<< SEARCH\n(.*?)=======\n(.*?)>>>>>>> REPLACE"),
    _honoured("early_stopping_patience", None),
    _honoured("convergence_threshold", 0.001),
    _honoured("early_stopping_metric", "combined_score"),
    _inert("max_tasks_per_child", None, "every evaluation is a process of its own, which ends with it"),
    *_LLM,
    _honoured("llm.models", []),
    _inert("llm.name", None, "llm.primary_model or llm.models"),
    _inert("llm.weight", 1.0, "the weights of llm.models"),
    _inert("llm.init_client", None, "init_client of an entry of llm.models"),
    _inert("llm.evaluator_models", [], "ask models within evaluate(): the search has no second judge"),
    _inert("llm.system_message", "system_message", "prompt.system_message"),
    _honoured("llm.primary_model", None),
    _honoured("llm.primary_model_weight", None),
    _honoured("llm.secondary_model", None),
    _honoured("llm.secondary_model_weight", None),
    _honoured("prompt.template_dir", None),
    _honoured("prompt.system_message", "system_message"),
    _honoured("prompt.island_system_messages", []),
    _inert("prompt.evaluator_system_message", "evaluator_system_message", "ask models within evaluate()"),
    _inert("prompt.programs_as_changes_description", False, "programs are shown as they are"),
    _inert("prompt.system_message_changes_description", None, "programs are shown as they are"),
    _inert("prompt.initial_changes_description", "", "programs are shown as they are"),
    _honoured("prompt.num_top_programs", 3),
    _honoured("prompt.num_diverse_programs", 2),
    _honoured("prompt.use_template_stochasticity", True),
    _honoured("prompt.template_variations", {}),
    _inert("prompt.use_meta_prompting", False, "it does nothing there either"),
    _inert("prompt.meta_prompt_weight", 0.1, "it does nothing there either"),
    _honoured("prompt.include_artifacts", True),
    _honoured("prompt.max_artifact_bytes", 20 * 1024, "the last bytes of a longer artifact are shown, not the first"),
    _honoured("prompt.artifact_security_filter", True),
    _honoured("prompt.suggest_simplification_after_chars", 500),
    _honoured("prompt.include_changes_under_chars", 100),
    _honoured("prompt.concise_implementation_max_lines", 10),
    _honoured("prompt.comprehensive_implementation_min_lines", 50),
    _honoured("prompt.diff_summary_max_line_len", 100),
    _honoured("prompt.diff_summary_max_lines", 30),
    _honoured("prompt.code_length_threshold", None),
    _inert("database.db_path", None, "OUT/run is the journal"),
    _inert("database.in_memory", True, "OUT/run is the journal"),
    _honoured("database.log_prompts", True),
    _honoured("database.population_size", 1000, "programs of a checkpoint; the search itself keeps all"),
    _honoured("database.archive_size", 100),
    _honoured("database.num_islands", 5),
    _honoured("database.island_initial_programs", []),
    _honoured("database.elite_selection_ratio", 0.1),
    _honoured("database.exploration_ratio", 0.2),
    _honoured("database.exploitation_ratio", 0.7),
    _inert("database.diversity_metric", "edit_distance", "diversity is the share of lines that the seed lacks"),
    _honoured("database.feature_dimensions", ["complexity", "diversity"],
              "axes with fixed bounds, from the seed's own value"),
    _honoured("database.feature_bins", 10),
    _inert("database.diversity_reference_size", 20, "diversity is measured against the seed"),
    _honoured("database.migration_interval", 50, "generations of an island: every interval * islands iterations"),
    _honoured("database.migration_rate", 0.1, "how many of migration_interval programs migrate, at least one for each neighbour"),
    _honoured("database.random_seed", 42),
    _inert("database.artifacts_base_path", None, "artifacts lie in the checkpoint"),
    _honoured("database.artifact_size_threshold", 32 * 1024),
    _inert("database.cleanup_old_artifacts", True, "artifacts lie in the checkpoint and go with it"),
    _inert("database.artifact_retention_days", 30, "artifacts lie in the checkpoint and go with it"),
    _inert("database.max_snapshot_artifacts", 100, "no snapshots are sent: a parent's artifacts are always there"),
    _inert("database.novelty_llm", None, "equal programs are recognised and not evaluated twice"),
    _inert("database.embedding_model", None, "equal programs are recognised and not evaluated twice"),
    _inert("database.embedding_api_base", None, "equal programs are recognised and not evaluated twice"),
    _inert("database.similarity_threshold", 0.99, "equal programs are recognised and not evaluated twice"),
    _honoured("evaluator.timeout", 300, "the evaluation's processes are killed; metrics of earlier stages stay"),
    _inert("evaluator.max_retries", 3, "an evaluation that raised is a rejection with its traceback, at once"),
    _honoured("evaluator.memory_limit_mb", None),
    _inert("evaluator.cpu_limit", None, "evaluator.timeout"),
    _honoured("evaluator.cascade_evaluation", True),
    _honoured("evaluator.cascade_thresholds", [0.5, 0.75, 0.9]),
    _honoured("evaluator.parallel_evaluations", 1),
    _inert("evaluator.distributed", False, "it does nothing there either"),
    _inert("evaluator.use_llm_feedback", False, "ask models within evaluate()"),
    _inert("evaluator.llm_feedback_weight", 0.1, "ask models within evaluate()"),
    _honoured("evaluator.enable_artifacts", True),
    _inert("evaluator.max_artifact_storage", 100 * 1024 * 1024, "the last MiB of each is kept, 8 MiB in all"),
    _honoured("evaluator.evaluator_args", None),
    _honoured("evolution_trace.enabled", False),
    _honoured("evolution_trace.format", "jsonl", "`jsonl` or `json`; no `hdf5`"),
    _honoured("evolution_trace.include_code", False),
    _honoured("evolution_trace.include_prompts", True),
    _honoured("evolution_trace.include_failures", False),
    _honoured("evolution_trace.output_path", None),
    _inert("evolution_trace.buffer_size", 10, "the trace is written once, at the end, from what is kept anyway"),
    _honoured("evolution_trace.compress", False),
)

SECTIONS = ("llm", "prompt", "database", "evaluator", "evolution_trace")
# Lists of models.
MODELS = ("llm.models", "llm.evaluator_models")
# Sections whose own keys are the user's.
FREE = frozenset({"prompt.template_variations", "database.feature_bins", "evaluator.evaluator_args"})
