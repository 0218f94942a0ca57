"""Every key of OpenEvolve 0.4.1's YAML: its default, and its use here. docs/openevolve.md shows the keys that
work differently here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Key:
    """`use` is empty for a key with the same meaning; otherwise it says what the key does here or what to use
    instead."""

    path: str
    default: Any
    use: str = ""
    honoured: bool = True


def _inert(path: str, default: Any, use: str) -> Key:
    return Key(path, default, use, False)


_MODEL: tuple[tuple[str, Any], ...] = (
    ("api_base", None), ("api_key", None), ("temperature", None), ("top_p", None), ("max_tokens", None),
    ("timeout", None), ("retries", None), ("random_seed", None), ("reasoning_effort", None), ("system_message", None))
_MODEL_INERT: tuple[tuple[str, Any, str], ...] = (
    ("retry_delay", None, "pauses grow from 1 s with jitter, and a server's own Retry-After is kept"),
    ("max_budget_usd", None, "it belongs to an unsupported provider"),
    ("max_ai_credits", None, "it belongs to an unsupported provider"),
    ("allow_all_tools", None, "it belongs to an unsupported provider"),
    ("manual_mode", None, "kernelsmith run TASK --manual FOLDER lets people answer instead of a model (docs/llm.md)"))
PROVIDERS = "only `openai`; a command-line agent needs a server in front of it that speaks Chat Completions"

# Keys of one entry of llm.models.
MODEL_KEYS: tuple[Key, ...] = (
    Key("name", None), Key("weight", 1.0), Key("provider", None, PROVIDERS),
    Key("init_client", None, "an object with generate_with_context(), from Python only"),
    *(Key(name, default) for name, default in _MODEL),
    *(_inert(name, default, use) for name, default, use in _MODEL_INERT))

_LLM_DEFAULTS: dict[str, Any] = {"api_base": "https://api.openai.com/v1", "temperature": 0.7, "max_tokens": 4096,
                                 "timeout": 60, "retries": 3, "retry_delay": 5, "manual_mode": False,
                                 "system_message": "system_message"}
_LLM = tuple(Key(f"llm.{key.path}", _LLM_DEFAULTS.get(key.path, key.default), key.use, key.honoured)
             for key in MODEL_KEYS if key.path not in ("name", "weight", "init_client", "system_message"))

KEYS: tuple[Key, ...] = (
    Key("max_iterations", 10000),
    Key("checkpoint_interval", 100),
    Key("checkpoint_on_improvement", False),
    Key("log_level", "INFO"),
    Key("log_dir", None),
    Key("logger_prefix", None),
    Key("random_seed", 42, "the same seed, program and replies give the same search; null draws a seed"),
    Key("language", None),
    Key("file_suffix", ".py"),
    Key("diff_based_evolution", True),
    Key("full_rewrite_probability", 0.0),
    Key("max_code_length", 10000),
    Key("enforce_evolve_blocks", False, "always true: edits outside the markers are put back"),
    Key("diff_pattern", r"<<<<<<< SEARCH\n(.*?)=======\n(.*?)>>>>>>> REPLACE"),
    Key("early_stopping_patience", None),
    Key("convergence_threshold", 0.001),
    Key("early_stopping_metric", "combined_score"),
    _inert("max_tasks_per_child", None, "every evaluation has its own process, which ends with it"),
    *_LLM,
    Key("llm.models", []),
    _inert("llm.name", None, "llm.primary_model or llm.models"),
    _inert("llm.weight", 1.0, "the weights of llm.models"),
    _inert("llm.init_client", None, "init_client of an entry of llm.models"),
    _inert("llm.evaluator_models", [], "ask models within evaluate(): the search has no second judge"),
    _inert("llm.system_message", "system_message", "prompt.system_message"),
    Key("llm.primary_model", None),
    Key("llm.primary_model_weight", None),
    Key("llm.secondary_model", None),
    Key("llm.secondary_model_weight", None),
    Key("prompt.template_dir", None),
    Key("prompt.system_message", "system_message"),
    Key("prompt.island_system_messages", []),
    _inert("prompt.evaluator_system_message", "evaluator_system_message", "ask models within evaluate()"),
    _inert("prompt.programs_as_changes_description", False, "programs are shown as they are"),
    _inert("prompt.system_message_changes_description", None, "programs are shown as they are"),
    _inert("prompt.initial_changes_description", "", "programs are shown as they are"),
    Key("prompt.num_top_programs", 3),
    Key("prompt.num_diverse_programs", 2),
    Key("prompt.use_template_stochasticity", True),
    Key("prompt.template_variations", {}),
    _inert("prompt.use_meta_prompting", False, "it does nothing there either"),
    _inert("prompt.meta_prompt_weight", 0.1, "it does nothing there either"),
    Key("prompt.include_artifacts", True),
    Key("prompt.max_artifact_bytes", 20 * 1024, "the last bytes of a longer artifact are shown, not the first"),
    Key("prompt.artifact_security_filter", True),
    Key("prompt.suggest_simplification_after_chars", 500),
    Key("prompt.include_changes_under_chars", 100),
    Key("prompt.concise_implementation_max_lines", 10),
    Key("prompt.comprehensive_implementation_min_lines", 50),
    Key("prompt.diff_summary_max_line_len", 100),
    Key("prompt.diff_summary_max_lines", 30),
    Key("prompt.code_length_threshold", None),
    _inert("database.db_path", None, "OUT/run is the journal"),
    _inert("database.in_memory", True, "OUT/run is the journal"),
    Key("database.log_prompts", True),
    Key("database.population_size", 1000, "programs of a checkpoint; the search itself keeps all"),
    Key("database.archive_size", 100),
    Key("database.num_islands", 5),
    Key("database.island_initial_programs", []),
    Key("database.elite_selection_ratio", 0.1),
    Key("database.exploration_ratio", 0.2),
    Key("database.exploitation_ratio", 0.7),
    _inert("database.diversity_metric", "edit_distance", "diversity is the share of lines that the seed lacks"),
    Key("database.feature_dimensions", ["complexity", "diversity"],
              "axes with fixed bounds, from the seed's own value"),
    Key("database.feature_bins", 10),
    _inert("database.diversity_reference_size", 20, "diversity is measured against the seed"),
    Key("database.migration_interval", 50, "generations of an island: every interval * islands iterations"),
    Key("database.migration_rate", 0.1, "how many of migration_interval programs migrate, at least one for each neighbour"),
    Key("database.random_seed", 42),
    _inert("database.artifacts_base_path", None, "artifacts lie in the checkpoint"),
    Key("database.artifact_size_threshold", 32 * 1024),
    _inert("database.cleanup_old_artifacts", True, "artifacts lie in the checkpoint and go with it"),
    _inert("database.artifact_retention_days", 30, "artifacts lie in the checkpoint and go with it"),
    _inert("database.max_snapshot_artifacts", 100, "no snapshots are sent: a parent's artifacts are always available"),
    _inert("database.novelty_llm", None, "equal programs are recognised and not evaluated twice"),
    _inert("database.embedding_model", None, "equal programs are recognised and not evaluated twice"),
    _inert("database.embedding_api_base", None, "equal programs are recognised and not evaluated twice"),
    _inert("database.similarity_threshold", 0.99, "equal programs are recognised and not evaluated twice"),
    Key("evaluator.timeout", 300, "the evaluation's processes are killed; metrics of earlier stages stay"),
    _inert("evaluator.max_retries", 3, "an evaluation that raises is rejected at once, with its traceback"),
    Key("evaluator.memory_limit_mb", None),
    _inert("evaluator.cpu_limit", None, "evaluator.timeout"),
    Key("evaluator.cascade_evaluation", True),
    Key("evaluator.cascade_thresholds", [0.5, 0.75, 0.9]),
    Key("evaluator.parallel_evaluations", 1),
    _inert("evaluator.distributed", False, "it does nothing there either"),
    _inert("evaluator.use_llm_feedback", False, "ask models within evaluate()"),
    _inert("evaluator.llm_feedback_weight", 0.1, "ask models within evaluate()"),
    Key("evaluator.enable_artifacts", True),
    _inert("evaluator.max_artifact_storage", 100 * 1024 * 1024, "the last MiB of each is kept, 8 MiB in all"),
    Key("evaluator.evaluator_args", None),
    Key("evolution_trace.enabled", False),
    Key("evolution_trace.format", "jsonl", "`jsonl` or `json`; no `hdf5`"),
    Key("evolution_trace.include_code", False),
    Key("evolution_trace.include_prompts", True),
    Key("evolution_trace.include_failures", False),
    Key("evolution_trace.output_path", None),
    _inert("evolution_trace.buffer_size", 10, "the trace is written once, at the end, from the run's own files"),
    Key("evolution_trace.compress", False),
)

SECTIONS = ("llm", "prompt", "database", "evaluator", "evolution_trace")
# Lists of models.
MODELS = ("llm.models", "llm.evaluator_models")
# Sections whose own keys are the user's.
FREE = frozenset({"prompt.template_variations", "database.feature_bins", "evaluator.evaluator_args"})
