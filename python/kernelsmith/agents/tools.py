"""The tools for agents. They check arguments and use a desk, and every answer is a short text."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from .._errors import Error
from . import answers
from .desk import Desk, task_text
from .feedback import Executable, Feedback
from .notes import FITNESS

_MOST_ROWS = 50


class Tools:
    """One method for each tool. Agents read the methods' docstrings. Thread-safe. The methods raise Error."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._planning = Executable(120, "another program is being planned")

    def task(self, offset: int = 0) -> str:
        """The program to make faster, the rules, and the number of the program to begin with. The text starts
        at character `offset`. Read it first."""
        begin = "Begin with program 0 (show_program), the seed.\n\n" if len(self._desk.task.seed) else ""
        return answers.piece(f"{begin}{task_text(self._desk)}\n\n{FITNESS}", offset)

    def evaluate(self, code: str = "", files: dict[str, str] | None = None, parent: int | None = None,
                 careful: bool = False) -> str:
        """Compile, check and time a program. It enters the run's archive and uses up one evaluation of the budget.

        code: the whole program, if the task's candidates have one file. files: texts by path, if they have
        several. parent: the number of the program from which you made it. careful: measure it a second time,
        with care and on fresh inputs, for one more evaluation.
        """
        return self._with_what_is_left(answers.verdict(self._desk.evaluate(self._files(code, files), parent, careful)))

    def confirm(self, program: int) -> str:
        """Measure a program of the run again, with care and on fresh inputs, as the run's end measures its
        best. Uses up one evaluation, and counts together with the program's earlier measurements. A program
        that is rejected now leaves the archive."""
        return self._with_what_is_left(answers.verdict(self._desk.confirm(program)))

    def submit(self, program: int | None = None, code: str = "", files: dict[str, str] | None = None) -> str:
        """Hand in your answer to the current request: a program of the run by its number, which costs
        nothing, or a new program, which is evaluated. The engine then opens another request, or ends the run
        if no evaluation is left."""
        if program is None:
            verdict = self._desk.submit(self._files(code, files))
        elif code or files:
            raise Error("name a program of the run, or give a new one, but not both", "invalid_argument", "submit")
        else:
            verdict = self._desk.submit(self._desk.program(program).source.files, [])
        return self._with_what_is_left(f"submitted. {answers.verdict(verdict)}")

    def finish(self) -> str:
        """End the run when you have nothing more to try. Its best program, whoever made it, is measured again
        on fresh inputs, with an evaluation that is reserved for it. Waits for that measurement, and gives the
        run's result."""
        self._desk.finish()
        return answers.end(self._desk.run())

    def history(self, limit: int = 20, offset: int = 0) -> str:
        """The run's programs, the latest first, one per line: its number, and its fitness or why it was
        rejected. The fitness is the median of all the program's measurements, with the interval in brackets;
        programs are ranked by its low end."""
        if not 1 <= limit <= _MOST_ROWS or offset < 0:
            raise Error(f"limit is 1 to {_MOST_ROWS}, and offset 0 or more", "invalid_argument", "history")
        run = self._desk.run()
        rows, confirmed = run.programs(), set(run.confirmed)
        shown = [answers.row(one, one["id"] in confirmed) for one in rows[::-1][offset:offset + limit]]
        return "\n".join([f"{len(rows)} programs", *shown])[:answers.MOST_CHARACTERS]

    def best(self) -> str:
        """The best program so far, with its verdict and its text."""
        run = self._desk.run()
        return "no program was accepted yet" if run.best is None else answers.program(run.best, 0, run.best.id in run.confirmed)

    def show_program(self, program: int, offset: int = 0) -> str:
        """A program's verdict and text. The text starts at character `offset`."""
        try:
            shown = self._desk.program(program)
        except Error:
            if program != 0 or not len(self._desk.task.seed):
                raise
            return answers.seed(self._desk.task.seed, offset)  # a machine without a GPU evaluates none
        return answers.program(shown, offset, program in self._desk.run().confirmed)

    def plan(self, code: str = "", files: dict[str, str] | None = None) -> str:
        """What a GPU program would launch: kernels, grids, buffers. Does not run the program, and costs no
        evaluation."""
        given = self._files(code, files)
        with tempfile.TemporaryDirectory(prefix="kernelsmith-plan-") as folder:
            for path, text in given.items():
                place = Path(folder) / path
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_text(text, "utf-8", "surrogatepass")
            candidate = folder if len(given) > 1 else str(Path(folder) / next(iter(given)))
            return self._planning.said("plan", str(self._desk.task.folder), candidate, without=folder + "/")

    def budget(self) -> str:
        """How much of the run's budgets is used and left, and when the run ends."""
        run = self._desk.current()
        limits: dict[str, float] = [event["budgets"] for event in run.events() if event["event"] == "session_started"][-1]
        counts = run.counts

        def used(name: str) -> str:
            return f"{counts[name]}" + (f" of {limits[name]:.0f}" if name in limits else "")

        return "\n".join([f"evaluations used: {used('evaluations')}", f"requests answered: {used('iterations')}",
                          f"accepted: {counts['accepted']}, rejected: {counts['rejected']}, repeats (free): {counts['repeated']}",
                          answers.end(run) if self._desk.is_over() else answers.left(run)])

    def _with_what_is_left(self, said: str) -> str:
        """Adds what is left to an answer near the run's end, for an agent that reads only answers."""
        run = self._desk.run()
        if self._desk.is_over():
            return f"{said}\n{answers.end(run)}"
        return said if run.evaluations_left is None or run.evaluations_left > 1 else f"{said}\n{answers.left(run)}"

    def _files(self, code: str, files: dict[str, str] | None) -> dict[str, str]:
        if bool(code) == bool(files):
            raise Error("give the program as `code`, or its texts by path as `files`", "invalid_argument", "code")
        names = self._desk.names()
        if not files and len(names) != 1:
            raise Error(f"a candidate of this task has the files {', '.join(names)}", "invalid_argument", "code",
                        "give them as `files`")
        given = files or {names[0]: code}
        self._desk.check(given)
        return given

    def all(self) -> list[Callable[..., str]]:
        """The tools, in the order in which they are listed."""
        return [self.task, self.evaluate, self.confirm, self.submit, self.finish, self.history, self.best, self.show_program, self.plan,
                self.budget, *Feedback(self._desk).all()]
