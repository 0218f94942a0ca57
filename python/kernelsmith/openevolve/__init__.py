"""Runs OpenEvolve 0.4.1's tasks on this engine, with its configuration, files and functions
(docs/openevolve.md).

    from kernelsmith.openevolve import run_evolution

    result = run_evolution("initial_program.py", "evaluator.py", "config.yaml", iterations=100, output_dir="out")
    print(result.best_score, result.best_code)
"""

from .api import EvolutionResult, evolve_algorithm, evolve_code, evolve_function, run_evolution
from .config import Config, load_config
from .programs import Program
from .results import EvaluationResult
from .sections import LLMModelConfig

__all__ = ["Config", "EvaluationResult", "EvolutionResult", "LLMModelConfig", "Program", "evolve_algorithm", "evolve_code",
           "evolve_function", "load_config", "run_evolution"]
