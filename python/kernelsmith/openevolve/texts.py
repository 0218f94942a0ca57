"""The default templates and fragments, under OpenEvolve's names and with its placeholders. A template folder
can override each of them, by NAME.txt and fragments.json."""

_PROGRAM = """\
# The program so far
- Fitness: {fitness_score}
- Features: {feature_coords}

## Remarks
{improvement_areas}

{artifacts}

# What was tried
{evolution_history}

# Source
```{language}
{current_program}
```

# Your task
Find a change that raises the fitness. The archive keeps the fittest program for each combination of these features:
{feature_dimensions}. A program of equal fitness with other features is useful, too.
"""

TEMPLATES: dict[str, str] = {
    "system_message": """\
You improve programs. Each one is run and scored; a higher fitness is better. Look at the scores and at what was tried,
find out what holds the program back, and change that.""",
    "evaluator_system_message": "You judge programs, and answer with numbers.",
    "diff_user": _PROGRAM + """\

Answer with one or more edits in exactly this form:

<<<<<<< SEARCH
lines of the program, copied exactly
=======
the lines that replace them
>>>>>>> REPLACE

Each marker stands alone on its line. Lines outside of the EVOLVE-BLOCK markers stay unchanged. Say briefly why the edits
should help.""",
    "full_rewrite_user": _PROGRAM + """\

Answer with the whole new program in one code block. It takes the same arguments and returns the same kind of result as the
old program. The EVOLVE-BLOCK markers, and the lines outside of them, stay unchanged.

```{language}
the program
```""",
    "evolution_history": "## Earlier programs\n\n{previous_attempts}\n\n## The best programs\n\n{top_programs}\n\n"
                         "{inspirations_section}",
    "previous_attempt": "### {attempt_number}\n- Change: {changes}\n- Scores: {performance}\n- Result: {outcome}",
    "top_program": "### Program {program_number}, fitness {score}\n```{language}\n{program_snippet}\n```\n{key_features}",
    "inspirations_section": "## Other ways\n\n{inspiration_programs}",
    "inspiration_program": "### Other program {program_number}, fitness {score}, {program_type}\n"
                           "```{language}\n{program_snippet}\n```\n{unique_features}",
}

FRAGMENTS: dict[str, str] = {
    "fitness_improved": "Fitness rose from {prev:.4f} to {current:.4f}",
    "fitness_declined": "Fitness fell from {prev:.4f} to {current:.4f}",
    "fitness_stable": "Fitness stayed at {current:.4f}",
    "exploring_region": "Features here: {features}",
    "no_feature_coordinates": "No features are known here",
    "code_too_long": "Longer than {threshold} characters: look for something simpler",
    "no_specific_guidance": "Nothing in particular",
    "artifact_title": "What the last run printed",
    "diverse_programs_title": "Different programs",
    "attempt_unknown_changes": "not known",
    "attempt_all_metrics_improved": "all scores rose",
    "attempt_all_metrics_regressed": "all scores fell",
    "attempt_mixed_metrics": "some scores rose, some did not",
    "top_program_metrics_prefix": "Score",
    "diverse_program_metrics_prefix": "Other score",
    "inspiration_type_diverse": "different",
    "inspiration_type_migrant": "from another island",
    "inspiration_type_random": "random",
    "inspiration_type_score_high_performer": "very good",
    "inspiration_type_score_alternative": "good",
    "inspiration_type_score_experimental": "middling",
    "inspiration_type_score_exploratory": "weak",
    "inspiration_changes_prefix": "Change: {changes}",
    "inspiration_metrics_excellent": "high {metric_name} ({value:.3f})",
    "inspiration_metrics_alternative": "low {metric_name}",
    "inspiration_code_with_class": "uses classes",
    "inspiration_code_with_numpy": "uses NumPy",
    "inspiration_code_with_mixed_iteration": "mixes for and while",
    "inspiration_code_with_concise_line": "short",
    "inspiration_code_with_comprehensive_line": "long",
    "inspiration_no_features_postfix": "{program_type}",
}
