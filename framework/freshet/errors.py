"""What can go wrong, as types: a code and parameters for machines, a sentence for people, an exit code for shells."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

# Longest message of an error, and longest text within it that another program raised.
_LONGEST, _LONGEST_FOREIGN = 600, 450
# A cause may have several lines: it ends where its frames begin.
_CAUSE = re.compile(
    r"^[ \t]*Caused by: (.+?)(?=\n\s+at [\w.$]+[(/]|\n\s*\.\.\. \d+ more|\n\s*Caused by: |\n\n(?:JVM|Driver) |\Z)",
    re.MULTILINE | re.DOTALL,
)
_TRACEBACK = "Traceback (most recent call last):"
_STACK = re.compile(r"\n\s+at [\w.$]+[(/]|\n\n(?:JVM|Driver) stacktrace:")
# Spark's own echo of the statement or of the plan.
_ECHO = re.compile(r"\n\n?==|;?\s*\(?line \d+,? pos|;\n")
_PACKAGE = re.compile(r"(?<![\w.$/])(?:[a-z_][\w$]*\.)+(?=[A-Z][\w$]*(?:Exception|Error)\b)")


def foreign_text(error: BaseException | str) -> str:
    """Return what another program raised as one short line: where it began, without traces and echoes of plans.

    Every text of an exception that is not freshet's own passes here before it is shown.

    Args:
        error: The exception, or its text.
    """
    text = str(error)
    if _TRACEBACK in text:
        # Of a user's function in one of Spark's Python workers: its last line without indentation says what was raised.
        lines = text.rpartition(_TRACEBACK)[2].splitlines()
        text = next((line for line in lines if line.strip() and not line[0].isspace()), text)
    else:
        causes = causes_in(text)
        text = causes[-1] if causes else re.sub(r"^An error occurred while calling \S+\s*:?\s*", "", _STACK.split(text)[0])
        text = _ECHO.split(text)[0]
    nothing = type(error).__name__ if isinstance(error, BaseException) else "no message"
    return cut(" ".join(_PACKAGE.sub("", text).split()) or nothing, _LONGEST_FOREIGN)


def causes_in(text: str) -> list[str]:
    """Return the causes that Java names in a text, each with all of its lines and none of its frames, the outermost first."""
    return [found.strip() for found in _CAUSE.findall(text)]


def root_cause(error: BaseException | str) -> str:
    """Return of what Spark and Hudi raised, causes included, the one where it began."""
    text = str(error)
    causes = causes_in(text)
    return causes[-1] if causes else text.split("\n")[1 if "\n" in text else 0].strip(" :")


def cut(text: str, most: int) -> str:
    """Return a text of at most ``most`` characters, with a mark where it was cut."""
    return text if len(text) <= most else text[: most - 2].rstrip() + " …"


class Exit(IntEnum):
    """Exit codes of the command, documented in docs/commands.md. 2 is click's own, for a wrong command line."""

    OK = 0
    FAILED = 1
    USAGE = 2
    INVALID = 3
    RETRY = 4
    STATE = 5
    DATA = 6
    CHECK = 7
    SYNC = 8


@dataclass(frozen=True, order=True, kw_only=True)
class Problem:
    """One thing wrong with one place of one file.

    Args:
        file: Path relative to the project's root, as the user would open it.
        line: 1-based line; 0 where the whole file is meant.
        code: Stable name of the problem, such as ``UNKNOWN_KEY``; tests and tools match on it.
        message: A sentence that says what is wrong.
        hint: What to write instead; empty where there is nothing to suggest.
    """

    file: str
    line: int
    code: str
    message: str
    hint: str = ""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place}: {self.code}: {self.message}" + (f" {self.hint}" if self.hint else "")


class FreshetError(Exception):
    """Base of every error that is meant for the user.

    Args:
        code: Stable name such as ``CHECKPOINT_EXPIRED``.
        message: What happened and where.
        effect: What was or was not read and written.
        next_step: The command or edit that mends it.
        details: Parameters for machines, JSON-serialisable.
    """

    exit_code: Exit = Exit.FAILED
    retryable: bool = False

    def __init__(self, code: str, message: str, effect: str = "", next_step: str = "", **details: object) -> None:
        self.code = code
        # A list of everything that is wrong stands whole in the details.
        self.message = message = cut(message, _LONGEST)
        self.effect = effect
        self.next_step = next_step
        self.details = details
        super().__init__(" ".join(part for part in (f"{code}: {message}", effect, next_step) if part))

    def as_json(self) -> dict[str, object]:
        """Return the error as a JSON-serialisable mapping."""
        return {
            "code": self.code,
            "message": self.message,
            "effect": self.effect,
            "next": self.next_step,
            "retryable": self.retryable,
            "details": self.details,
        }


class SpecError(FreshetError):
    """The project's files are wrong; carries every problem of every file, sorted by place."""

    exit_code = Exit.INVALID

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(sorted(set(problems)))
        count = len(self.problems)
        super().__init__(
            "INVALID_PROJECT",
            f"{count} problem{'s' * (count != 1)} in the project's files.",
            "Nothing was read or written.",
            "",
            problems=[vars(p) | {"text": str(p)} for p in self.problems],
        )

    def __str__(self) -> str:
        return "\n".join(str(p) for p in self.problems)


class UnknownName(SpecError):
    """The command line names what the project does not have; the code is that of its first problem."""

    exit_code = Exit.USAGE

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__(problems)
        self.code = self.problems[0].code
        self.message = cut(" ".join(problem.message for problem in self.problems), _LONGEST)
        self.next_step = " ".join(dict.fromkeys(problem.hint for problem in self.problems if problem.hint))

    def __str__(self) -> str:
        return " ".join(part for part in (f"{self.code}: {self.message}", self.effect, self.next_step) if part)


class StateError(FreshetError):
    """The tables' state forbids the run: checkpoint missing or expired, table made with another key or index."""

    exit_code = Exit.STATE


class DataError(FreshetError):
    """The batch does not fit the target: column, type, null, SQL."""

    exit_code = Exit.DATA


class CheckError(DataError):
    """A check of the pipeline failed, and nothing was published."""

    exit_code = Exit.CHECK


class SyncError(FreshetError):
    """The rows are published, and a catalogue was not told of them; the next run tells it, whether it has rows or not."""

    exit_code = Exit.SYNC
    retryable = True


class RetryableError(FreshetError):
    """The same command may succeed later: another run holds the lease, another writer won a conflict."""

    exit_code = Exit.RETRY
    retryable = True


def unforeseen(error: Exception, doing: str = "") -> FreshetError:
    """Return an exception as an error for the user; one of freshet's own is returned as it is.

    Args:
        error: The exception.
        doing: The pipeline that it happened to, where it is known.
    """
    if isinstance(error, FreshetError):
        return error
    reason = foreign_text(error)
    name = type(error).__name__
    if name != "Py4JJavaError" and reason != name:
        # Java's exceptions carry their names themselves.
        reason = f"{name}: {reason}"
    found = FreshetError(
        "UNEXPECTED_ERROR",
        f"{doing}: {reason}" if doing else reason,
        "A commit holds its checkpoint, so that repeating the command is safe.",
        "FRESHET_DEBUG=1 in front of the command prints the traceback.",
        type=name,
    )
    found.__cause__ = error
    return found
