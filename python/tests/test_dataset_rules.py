"""The rules of data sets on hand-made steps, with known answers."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
from dataset_runs import REJECTED, TEXTS, accepted, figure, run_of, task_facts
from kernelsmith.learning.dataset import Settings, multiturn, preference, rl, rules, sft
from kernelsmith.learning.dataset.figures import Figure
from kernelsmith.learning.dataset.rows import form_of
from kernelsmith.learning.dataset.steps import Step, gain
from kernelsmith.learning.form import form_followed

NO_TEXTS = SimpleNamespace(reply=lambda step: {"system": "", "user": ""}, code=lambda run, program: f"{run.id} {program}")


def chosen(kind, *runs, reader=NO_TEXTS, **options):
    """The tickets of each row, and the dropped steps by rule. Steps for `rl` may start from any accepted parent, unless `steps`
    says otherwise."""
    if kind == "rl":
        options = {"steps": "initial", **options}
    tally = rules.Tally()
    steps = rules.usable((step for run in runs for step in run.steps), tally)
    module = {"sft": sft, "rl": rl, "multiturn": multiturn, "preference": preference}[kind]
    more = (reader,) if kind == "rl" else ()
    rows = module.select(steps, Settings(kind=kind, **options), tally, *more)
    return [tuple(step.ticket for step in row) for row in rows], dict(tally.counts())


# --- the gain of a child over its parent

def test_a_gain_is_the_ratio_over_one_yardstick_as_wide_as_both_intervals_allow():
    run = run_of((0, accepted(3, 0.1)))
    found = gain(run, 1, 0)
    assert found.by == "yardstick" and found.beyond_noise
    assert found.figure.median == pytest.approx(3)
    assert (found.figure.low, found.figure.high) == pytest.approx((2.7 / 1.02, 3.3 / 0.98))


@pytest.mark.parametrize(("speed", "beyond"), [(1.03, False), (1.045, True), (1.0, False), (0.9, False)])
def test_a_gain_is_beyond_noise_if_the_intervals_are_apart(speed, beyond):
    run = run_of((0, accepted(speed)))
    apart = run.verdicts[1].score.low > run.verdicts[0].score.high
    assert gain(run, 1, 0).beyond_noise == beyond == apart


def test_a_duel_of_the_two_comes_first_whoever_challenged():
    run = run_of((0, accepted(2)))
    run.duels[1, 0] = Figure(1.5, 1.4, 1.6)
    assert gain(run, 1, 0).figure == Figure(1.5, 1.4, 1.6) and gain(run, 1, 0).by == "duel"
    run.duels = {(0, 1): Figure(0.5, 0.4, 0.8)}
    assert gain(run, 1, 0).figure == Figure(2.0, 1 / 0.8, 1 / 0.4)


def test_there_is_no_gain_between_machines_or_between_figures():
    run = run_of((0, accepted(2, hardware="GPU")), (0, accepted(2, score_of="fitness")), (0, REJECTED))
    assert [gain(run, child, 0) for child in (1, 2, 3)] == [None] * 3


def test_a_fitness_that_is_not_positive_has_a_gain_without_a_ratio():
    run = run_of((None, accepted(0)), (1, accepted(2)))
    assert gain(run, 2, 1).beyond_noise and gain(run, 2, 1).figure is None and not gain(run, 1, 2).beyond_noise
    assert chosen("sft", run)[0] == [(1,), (2,)]
    assert chosen("rl", run) == ([], {"translation": 1, "no ratio: a fitness that is not positive": 1})


# --- which steps can be rows at all

def test_what_has_no_whole_reply_or_no_verdict_is_dropped_by_name():
    run = run_of((0, accepted(2)))
    step = run.steps[0]
    cut = Step(run, 2, "edit", "m", 0, (0,), "evaluated", replace(TEXTS, cut=True))
    stopped = Step(run, 3, "edit", "m", 0, (0,), "evaluated", replace(TEXTS, finish_reason="length"))
    odd = Step(run, 4, "edit", "m", 0, (0,), "evaluated", replace(TEXTS, readable=False))
    others = [Step(run, 5 + at, "edit", "m", 0, (0,), outcome, TEXTS) for at, outcome in
              enumerate(("refused", "given back", "repeat"))]
    tally = rules.Tally()
    silent = Step(run, 9, "tune", "", 0, (0,), "evaluated", None)
    assert rules.usable([step, cut, stopped, odd, *others, silent], tally) == [step]
    assert dict(tally.counts()) == {"reply or prompt cut off": 2, "not UTF-8": 1, "refused: no child": 1,
                                    "given back: no verdict": 1, "repeat of an earlier program": 1, "no reply kept": 1}


# Kind, options, the children's parents and verdicts; tickets of the rows, and dropped steps by rule.
_BASELINE = [(None, accepted(0.5)), (1, accepted(0.9)), (1, accepted(1.5)), (3, accepted(1.5))]
_UNGAINED = [(0, accepted(0.9)), (0, REJECTED), (None, accepted(2)), (None, REJECTED)]
CASES = {
    "every correct translation, and gains beyond noise": (
        "sft", {}, [(None, accepted(0.5)),       # a translation, slow but correct
                    (None, REJECTED),
                    (1, accepted(0.505)),        # not beyond noise
                    (1, accepted(0.9)),
                    (4, accepted(2, dishonest="algebraic")),
                    (2, accepted(0.4))],         # repairs a failed translation: a translation
        [(1,), (4,), (6,)], {"rejected, run": 1, rules.NO_GAIN: 1, "not honest: algebraic": 1}),
    "over the parent": ("sft", {}, _BASELINE, [(1,), (2,), (3,)], {rules.NO_GAIN: 1}),
    "over the baseline, a speedup instead": ("sft", {"over": "baseline"}, _BASELINE, [(1,), (3,), (4,)], {rules.NO_GAIN: 1}),
    "a repair is compared with the accepted program further up": (
        "sft", {}, [(0, REJECTED), (1, accepted(1.01)), (1, accepted(1.2))], [(3,)], {"rejected, run": 1, rules.NO_GAIN: 1}),
    "the largest sure gain of a task": (
        "rl", {}, [(0, accepted(2)), (0, accepted(2.1, 0.4)), (None, accepted(9)), (0, accepted(1.01))],
        [(1,)], {"behind the 1 best of its task": 1, "translation": 1, rules.NO_GAIN: 1}),
    "never a selected child, not even a descendant of it": (
        "rl", {"per_task": 4}, [(0, accepted(3)),      # gains 3.0: selected
                                (1, accepted(3.6)),    # its parent is selected
                                (2, accepted(4.5)),    # its parent descends from it
                                (0, accepted(1.2))],   # a sibling
        [(1,), (4,)], {"leak: a selected prompt would show a selected child": 2}),
    "chains are from parent to child, and end with a gain": (
        "multiturn", {"turns": 3}, [(None, accepted(0.5)), (1, accepted(1)), (2, accepted(2)), (3, accepted(4)), (3, REJECTED)],
        [(2, 3, 4), (1, 2, 3), (1, 2)], {"rejected, run": 1}),
    "failures that were repaired": (
        "multiturn", {}, [(None, REJECTED), (1, accepted(0.5)), (2, accepted(0.6))], [(1, 2, 3), (1, 2)], {}),
    "chains without a gain, and single turns": (
        "multiturn", {}, [(0, accepted(1.01)), (1, accepted(1.02)), (0, accepted(2))],
        [], {rules.NO_GAIN: 2, "no turn before it": 1}),
    "a gain that no float holds": (
        "multiturn", {}, [(None, accepted(1e-300)), (1, accepted(1)), (2, accepted(1e300))], [(1, 2)], {rules.NO_RATIO: 1}),
    "a turn before the last stands in as many rows as a row has turns": (
        "multiturn", {"turns": 2}, [(None, accepted(1)), *[(1, accepted(2 + at)) for at in range(4)]],
        [(1, 5), (1, 4)], {"its parent's turn stands in enough rows": 2}),
    "a margin that no float holds": (
        "preference", {}, [(0, accepted(1e-300)), (0, accepted(1e300)), (0, accepted(2)), (0, accepted(1.5))],
        [(3, 4)], {rules.NO_RATIO: 2}),
    "the best with the worst of a parent's children": (
        "preference", {}, [(0, accepted(2)), (0, accepted(3)), (0, REJECTED), (0, accepted(1.5)), (0, accepted(2.01)),
                           (1, accepted(9))],
        [(2, 3), (5, 4)], {"not apart beyond noise from other answers": 1, "no other answer to its parent": 1}),
    "the better one": ("preference", {}, _UNGAINED, [(1, 2), (3, 4)], {}),
    "with gain_only faster than its parent": (
        "preference", {"gain_only": True}, _UNGAINED, [], {"not apart beyond noise from other answers, or no gain": 4}),
    "pairs with a gain": (
        "preference", {"gain_only": True}, [(0, accepted(3)), (0, accepted(2)), (0, accepted(1.0)), (0, REJECTED)],
        [(1, 4), (2, 3)], {}),
}


@pytest.mark.parametrize("name", CASES)
def test_rows_of_one_run(name):
    kind, options, children, rows, dropped = CASES[name]
    assert chosen(kind, run_of(*children), **options) == (rows, dropped)


# --- sft and rl

@pytest.mark.parametrize("kind", ["sft", "rl"])
def test_rows_are_balanced_over_difficulty(kind):
    matmul = "class Model:\n    def forward(self, a, b):\n        return a @ b\n"
    easy = [run_of((0, accepted(2)), id=f"e{at}", task=task_facts(f"easy {at}")) for at in range(5)]
    hard = [run_of((0, accepted(2)), id=f"h{at}", task=task_facts(f"hard {at}", matmul)) for at in range(2)]
    assert {run.task.difficulty.level for run in easy} == {1} and {run.task.difficulty.level for run in hard} == {2}
    rows, dropped = chosen(kind, *easy, *hard)
    assert len(rows) == 4 and dropped == {"over the balance of difficulty": 3}
    assert len(chosen(kind, *easy, *hard, balance=False)[0]) == 7
    unknown = run_of((0, accepted(2)), id="u", task=task_facts("no reference", ""))
    assert len(chosen(kind, *easy, *hard, unknown)[0]) == 5, "a task without a level neither counts nor is dropped"


# --- sft

def test_the_same_change_in_two_runs_is_one_row():
    one, other = run_of((0, accepted(2)), id="a"), run_of((0, accepted(2)), id="b")
    other.codes[1] = one.codes[1]
    assert chosen("sft", one, other) == ([(1,)], {"same change as another row": 1})


@pytest.mark.parametrize("kind", ["sft", "multiturn"])
def test_a_reply_in_another_form_than_the_prompt_asks_for_is_no_row(kind):
    run = run_of((None, accepted(1)), (1, accepted(2)), (2, accepted(4)))
    for step, followed in zip(run.steps, (True, None, False), strict=True):
        object.__setattr__(step, "texts", replace(TEXTS, form_followed=followed))
    rows, dropped = chosen(kind, run)
    assert (3,) not in rows and (1, 2, 3) not in rows and rows
    assert dropped["reply in another form than the prompt asks for"] == 1
    assert {row[-1] for row in chosen(kind, run, any_form=True)[0]} >= {2, 3}
    assert [form_of(steps) for steps in (run.steps[:1], run.steps[:2], run.steps)] == [True, None, False]


@pytest.mark.parametrize(("asked", "followed"), [
    ("Give edits:\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n", (True, False)),
    ("Give the program in one fenced code block.", (False, True)), ("Make it fast.", (None, None))])
def test_the_form_of_a_reply(asked, followed):
    replies = "Faster:\n<<<<<<< SEARCH\n1\n=======\n2\n>>>>>>> REPLACE\n", "Faster:\n```\n2\n```\n"
    assert tuple(form_followed(asked, reply) for reply in replies) == followed


# --- rl

@pytest.mark.parametrize("baseline", [True, False])
def test_rl_starts_from_accelerated_parents(baseline):
    run = run_of((0, accepted(5)),         # the largest gain, from the seed
                 (0, accepted(1.22)),      # its low end is below 1.2
                 (2, accepted(4)),
                 (0, accepted(1.3)),
                 (4, REJECTED),
                 (5, accepted(3)),         # repairs what was made from an accelerated program
                 (6, accepted(3.5)))
    if not baseline:  # then speedups are over the first accepted program
        run.verdicts = {at: replace(verdict, speedup=None) for at, verdict in run.verdicts.items()}
    slow = {"its parent's speedup is not surely 1.2 or more": 4}
    assert chosen("rl", run, steps="best") == ([(6,)], {**slow, "rejected, run": 1, "behind the 1 best of its task": 1})
    assert chosen("rl", run)[0] == [(1,)]
    assert chosen("rl", run, steps="best", parent_speedup=2)[0] == [(7,)]


def test_rl_does_not_guess_how_fast_a_parent_is():
    run = run_of((0, accepted(2)), (1, accepted(3)))
    run.verdicts = {at: replace(verdict, speedup=None) for at, verdict in run.verdicts.items()}
    run.verdicts[0] = REJECTED
    run.verdicts[1] = replace(run.verdicts[1], hardware="GPU")
    run.duels[2, 1] = figure(1.5)
    assert chosen("rl", run, steps="best")[1]["its parent's speedup is not surely 1.2 or more"] == 1
    run.verdicts[0] = replace(accepted(1, hardware="GPU"), speedup=None, score_of="fitness")
    assert chosen("rl", run, steps="best")[1]["its parent's speedup is unknown"] == 1


@pytest.mark.parametrize("where", ["top", "inspirations"])
def test_rl_looks_at_everything_that_a_prompt_shows(where):
    run = run_of((0, accepted(3)), (0, accepted(2)))
    shown = run.steps[1]
    run.steps[1] = Step(run, 2, shown.operator, "m", 0, (0, 1), "evaluated", TEXTS)
    assert chosen("rl", run, per_task=2)[0] == [(1,)]
    run.steps[1], run.steps[0] = shown, Step(run, 1, shown.operator, "m", 0, (0, 2), "evaluated", TEXTS)
    assert chosen("rl", run, per_task=2)[0] == [(1,)]  # also if the better one shows the other


def test_rl_finds_leaks_across_the_runs_of_a_task():
    one, other = run_of((0, accepted(3)), id="a"), run_of((0, accepted(2)), (1, accepted(3)), id="b")
    other.codes[1] = one.codes[1]  # run b made the same program, and built on it
    assert chosen("rl", one, other, per_task=3)[0] == [(1,)]


@pytest.mark.parametrize("hardware", ["CPU", "GPU"])
@pytest.mark.parametrize("task", ["relu", "another task"])
def test_rl_finds_leaks_between_any_two_rows(hardware, task):
    first = run_of((0, accepted(5)), id="a")
    later = [run_of((0, accepted(gain, hardware=hardware)), id=name, task=task_facts(task))
             for name, gain in (("b", 4), ("c", 3), ("d", 2))]
    for run in later:
        run.verdicts[0] = accepted(1, hardware=hardware)
    later[0].codes[0] = first.codes[1]     # begins with the first run's winner
    later[1].codes[0] = later[0].codes[1]  # and goes on from there
    leak = {"leak: a selected prompt would show a selected child": 2}
    assert chosen("rl", first, *later, per_task=9, mixed_hardware=True) == ([(1,), (1,)], leak)


def test_rl_drops_the_weaker_of_two_rows_that_exclude_each_other_also_of_two_tasks():
    strong = run_of((0, accepted(9)), (0, accepted(1.5)), id="a")
    other = run_of((0, accepted(3)), id="b", task=task_facts("another task"))
    other.codes[0] = strong.codes[2]  # begins with the first task's second best
    assert chosen("rl", strong, other, per_task=2)[0] == [(1,), (1,)]


def test_rl_finds_a_leak_that_only_the_prompt_s_words_show():
    run = run_of((0, accepted(3)), (0, accepted(2)))
    reader = SimpleNamespace(reply=lambda step: {"user": "like this: a 1" if step.ticket == 2 else ""}, code=NO_TEXTS.code)
    assert chosen("rl", run, per_task=2)[0] == [(1,), (2,)]
    assert chosen("rl", run, per_task=2, reader=reader)[0] == [(1,)]


# --- multiturn

@pytest.mark.parametrize(("last", "beats"), [(20, False), (51, False), (60, True)])
def test_multiturn_ends_with_more_than_its_best_earlier_turn(last, beats):
    run = run_of((None, accepted(50)), (1, accepted(10)), (2, accepted(last)))
    assert ((1, 2, 3) in chosen("multiturn", run)[0]) == beats


@pytest.mark.parametrize("kind", ["sft", "rl", "multiturn", "preference"])
def test_a_ratio_that_no_float_holds_is_dropped_by_a_rule(kind):
    run = run_of((None, accepted(1e-300)), (1, accepted(1e-300)), (2, accepted(1e300)), (3, accepted(3e300)))
    assert chosen(kind, run)[1][rules.NO_RATIO] == 1


# --- preference

def test_pairs_need_the_same_operator_and_system_message():
    run = run_of((0, accepted(2)), (0, REJECTED), (0, REJECTED))
    run.steps[1] = Step(run, 2, "edit", "m", 0, (0,), "evaluated", TEXTS)
    run.steps[2] = Step(run, 3, "rewrite", "m", 0, (0,), "evaluated", replace(TEXTS, system="other"))
    assert chosen("preference", run)[0] == []


def test_pairs_of_one_prompt_only():
    run = run_of((0, accepted(2)), (0, accepted(3)), (0, REJECTED))
    object.__setattr__(run.steps[2], "texts", replace(TEXTS, user="other"))
    assert chosen("preference", run)[0] == [(2, 3)]
    rows, dropped = chosen("preference", run, same_prompt=True)
    assert rows == [(2, 1)] and dropped == {"no other answer to its prompt": 1}


def test_neither_two_failures_nor_a_dishonest_winner_make_a_pair():
    run = run_of((0, REJECTED), (0, accepted(9, dishonest="trivial")))
    assert chosen("preference", run)[0] == []
    run.verdicts[1] = accepted(1.5)
    assert chosen("preference", run)[0] == [(1, 2)]


def test_figures_divide_to_intervals_that_hold_every_ratio():
    assert figure(4, 0.25).over(figure(2, 0.5)) == Figure(2, 1, 5)
