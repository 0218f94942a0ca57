"""The one exception that kernelsmith raises."""


class Error(Exception):
    """What failed, where, and what to do about it.

    `code` is a code of docs/errors.md, such as "not_found". `where` is a file:line, path or key, and `hint`
    says what the user can do; both may be empty. An evaluator or proposer raises it if the machine failed,
    not the candidate. The engine then asks again, and five such errors in a row end the run.
    """

    def __init__(self, message: str, code: str = "tool_failed", where: str = "", hint: str = "") -> None:
        super().__init__(message, code, where, hint)
        self.message = message
        self.code = code
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        text = f"{self.where}: {self.message}" if self.where else self.message
        return f"{text} ({self.code})" + (f"\nhint: {self.hint}" if self.hint else "")
