"""Cold start, reinforcement learning and test time show a model the same turns, byte for byte, after the same verdicts.

tests/suite/stts_conversation_test.cpp holds test time to the same file, and tests/service/verdict_test.cpp its answers.
"""

import json
import os
from pathlib import Path

import pytest
from dataset_runs import task_facts
from kernelsmith import learning
from kernelsmith.learning.dataset import journal, rows
from kernelsmith.learning.dataset.steps import RunSteps, Step
from test_learning_judge import judge_all

RECORDED = json.loads((Path(os.environ["KERNELSMITH_SOURCE"]) / "tests/conversation/trajectory.json").read_text())
TURNS, MESSAGES = RECORDED["turns"], RECORDED["messages"]
FIRST = [{"role": "user", "content": "Write a kernel. Give it in one fenced code block."}]


def test_reinforcement_learning_has_the_recorded_turns():
    said = []
    for turn in TURNS:
        (judged,), _ = judge_all([turn["reply"]], {"prompt": FIRST}, {"faults": [turn["answer"]]}, score="dr-kernel")
        said += [{"role": "assistant", "content": turn["reply"]}, {"role": "user", "content": learning.feedback(judged)}]
    assert said == MESSAGES


class Replies:
    """The kept replies of a run."""

    def reply(self, step):
        later = "A later ticket shows its parent. Give it in one fenced code block."
        return {"user": FIRST[0]["content"] if step.ticket == 1 else later, "model": "m",
                "text": TURNS[step.ticket - 1]["reply"] if step.ticket <= len(TURNS) else "the last"}


def test_cold_start_has_the_recorded_turns():
    run = RunSteps("id", "folder", task_facts(), "", 0)
    for ticket, turn in enumerate(TURNS, 1):
        event = {"ticket": ticket, "program": ticket, "source": "evaluated", "evaluation": turn["evaluation"]}
        journal._take_evaluation(run, event, {}, {})
    steps = [Step(run, ticket, "rewrite", "m", None, (), "refused", None) for ticket in range(1, len(TURNS) + 2)]
    messages = rows._conversation(steps, Replies())
    assert messages == [*FIRST, *MESSAGES, {"role": "assistant", "content": "the last"}]


@pytest.mark.parametrize("edits", [False, True])
def test_a_turn_asks_for_the_form_of_the_reply_that_follows(edits):
    example = "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE" if edits else "Give it in one fenced code block."
    text = rows.feedback_after(json.dumps(TURNS[0]["evaluation"]), [{"role": "user", "content": example}])
    assert ("SEARCH" in text) == edits
