"""Converts answers of the service to rewards. docs/service.md describes the service's side."""

from __future__ import annotations

import enum
import json
import math
from dataclasses import dataclass
from typing import Any

from .._errors import Error
from .client_http import Reply
from .client_records import Candidate, Reward, is_unicode

MOST_CHARACTERS = 100_000  # of kernel_code
PENDING = ("pending", "processing")
RETRIED = (408, 425, 429)
# "The service was stopped before this began, or ended": the candidate is evaluated again.
STOPPED = "RESOURCE_ERROR"
# "A failure: a reference that fails its own check, a request that cannot be understood."
UNUSABLE = "VALIDATION_ERROR"


class Kind(enum.Enum):
    """The reason why there is no reward yet, which decides the next step."""

    PENDING = "the service still works on the request"
    UNHEARD = "nothing is known of the request: the same one is sent again"
    FAILED = "the request ended without a verdict: the same one is sent, and evaluated, again"
    TIMED_OUT = "the request ended without a verdict for good: it is sent under another id"
    CANCELLED = "a client cancelled the request: it is sent under another id"
    REFUSED = "another try would end in the same way"


@dataclass(frozen=True, slots=True)
class Trouble:
    """No reward. `reason` is a code of docs/errors.md."""

    kind: Kind
    reason: str
    message: str
    pause_s: float = 0.0


def unsendable(candidate: Candidate) -> Reward | Trouble | None:
    """The answer that the service would give to text with surrogates, which JSON allows and UTF-8 does
    not."""
    if not is_unicode(candidate.kernel_code):
        return Reward(candidate.id, 0.0, message="kernel_code: it is not Unicode", correct=False, decoy=False,
                      rejection="unreadable")
    if not is_unicode(json.dumps(candidate.content(), ensure_ascii=False)):
        return Trouble(Kind.REFUSED, "bad_input", "the request has text that is not Unicode")
    return None


def outcome_of(reply: Reply, candidate: Candidate, task_id: str) -> Reward | Trouble:
    """The candidate's reward, or the reason why there is none. Raises Error if no request can work."""
    if reply.status == 200:
        try:
            return _outcome_of_answer(json.loads(reply.body), reply.body, candidate, task_id)
        except (ValueError, RecursionError) as error:
            return Trouble(Kind.UNHEARD, "bad_reply", f"the answer cannot be understood: {error}")
    detail = _detail_of(reply)
    if reply.status in (401, 403):
        raise Error(detail, "permission", hint="give the service's token: RewardClient(url, token=...)")
    if 300 <= reply.status < 400 or reply.status in (404, 405):
        raise Error(f"no kernelsmith serve answers here: {detail}", "not_found", hint="check the url and its path")
    if reply.status in RETRIED or (reply.status >= 500 and reply.status != 501):
        return Trouble(Kind.UNHEARD, "busy" if reply.status in (429, 503) else "server_failed", detail, reply.pause_s)
    if reply.status == 422 and detail.startswith("kernel_code:"):
        rejection = "too_large" if len(candidate.kernel_code) > MOST_CHARACTERS else "unreadable"
        return Reward(candidate.id, 0.0, message=detail, correct=False, decoy=False, rejection=rejection)
    return Trouble(Kind.REFUSED, "bad_input", detail)


def _outcome_of_answer(answer: Any, body: bytes, candidate: Candidate, task_id: str) -> Reward | Trouble:
    if not isinstance(answer, dict) or answer.get("task_id") != task_id:
        raise ValueError("it belongs to another request")
    status, code = answer.get("status"), answer.get("error_code")
    message = str(answer.get("error_message") or "")
    own = _dict_at(_dict_at(answer, "metadata"), "kernelsmith")
    if status == "completed":
        return _verdict(answer, body, candidate)
    if status in PENDING:
        return Trouble(Kind.PENDING, "timeout", f"it is still {status}" + (f": {message}" if message else ""))
    if status == "failed":
        return Trouble(Kind.REFUSED if code == UNUSABLE else Kind.FAILED, str(own.get("error") or "server_failed"), message)
    if status == "timeout":
        return Trouble(Kind.TIMED_OUT, "timeout", message)
    if status == "cancelled":
        return Trouble(Kind.UNHEARD if code == STOPPED else Kind.CANCELLED, "cancelled", message)
    raise ValueError(f"status {status!r} is unknown")


def _verdict(answer: dict[str, Any], body: bytes, candidate: Candidate) -> Reward:
    """Raises ValueError if fields of a verdict are missing: such an answer must not become a reward of 0."""
    correct = answer.get("correctness")
    if not isinstance(correct, bool):
        raise ValueError("completed without correctness")
    speedup = _number(answer.get("speedup")) if correct else None
    if correct and speedup is None:
        raise ValueError("completed and correct without speedup")
    metadata = _dict_at(answer, "metadata")
    own = _dict_at(metadata, "kernelsmith")
    rejection = _dict_at(own, "rejection").get("code")
    if not correct and rejection is None:
        raise ValueError("completed and not correct without a rejection")
    decoy = answer.get("decoy_kernel")
    if not isinstance(decoy, bool):
        raise ValueError("completed without decoy_kernel")
    score = speedup if speedup is not None and not decoy else 0.0
    return Reward(candidate.id, score, message=str(answer.get("error_message") or ""), correct=correct, speedup=speedup,
                  own_share=_share(metadata.get("custom_kernel_cuda_time_coverage")), decoy=decoy,
                  rejection=None if rejection is None else str(rejection), answer=body.decode(),
                  advice=str(own.get("advice") or ""),
                  over_baseline="speedup" in own if correct and "fitness" in own else None,
                  binary=binary if isinstance(binary := own.get("binary"), str) else None,
                  speedup_low=_number(_dict_at(own, "speedup" if "speedup" in own else "fitness").get("low")) if correct else None)


def _detail_of(reply: Reply) -> str:
    try:
        return str(json.loads(reply.body)["detail"])
    except (ValueError, RecursionError, KeyError, TypeError):
        return f"HTTP status {reply.status}"


def _dict_at(holder: dict[str, Any], key: str) -> dict[str, Any]:
    value = holder.get(key)
    return value if isinstance(value, dict) else {}


def _share(value: Any) -> float | None:
    """Raises ValueError for an invalid share."""
    number = _number(value)
    if value is not None and (number is None or not 0 <= number <= 1):
        raise ValueError("custom_kernel_cuda_time_coverage is not from 0 to 1")
    return number


def _number(value: Any) -> float | None:
    """A finite number as a float; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None
