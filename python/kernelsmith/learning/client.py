"""RewardClient gets rewards from `kernelsmith serve`. A failure of the machine is never a score."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import logging
import math
import random
import ssl
import threading
import time
import urllib.parse
from collections.abc import Iterable

from .._errors import Error
from .client_answers import Kind, Trouble, outcome_of, unsendable
from .client_http import Endpoint
from .client_records import Candidate, Reward, RewardBatch

__all__ = ["Candidate", "Reward", "RewardBatch", "RewardClient"]

log = logging.getLogger("kernelsmith.learning")

ANSWER_S = 30.0  # how late an answer may be: the service takes up to this time to read a request or to write an answer
SILENT_S = 10.0  # how long a service may be silent without a warning: it may just be starting
CANCEL_S = 5.0  # the time to tell the service that nobody waits for the request any more


class RewardClient:
    """Asks `kernelsmith serve` for the rewards of candidates (docs/service.md, "Rewards over the service").

    url          http://HOST:PORT, or https:// of a proxy in front of it; a path before the endpoints may follow
    token        sent as `Authorization: Bearer`; else the password in the url, else $KERNELSMITH_SERVICE_TOKEN
    concurrency  how many candidates may be requested at a time, over all calls in one event loop
    patience_s   seconds from a candidate's first request until the client gives up with a reward of None; the
                 last answer may come a little later
    evaluations  how often a candidate is evaluated if the service ends without a verdict (`failed`,
                 `timeout`)
    wait_s       whole seconds that the service may hold a request until it is evaluated; less than the limit
                 of any proxy
    backoff_s    first and longest pause in seconds after a failure. Pauses double, less a random part of up to a half;
                 Retry-After makes them longer, up to the longest pause
    ssl_context  for https, instead of the system's certificates

    If nobody answers at the url for 10 s, the logger "kernelsmith.learning" warns once. A client keeps no
    connection and need not be closed. Many tasks may await its methods at a time, in any event loop of any
    thread. Raises ValueError for settings that are out of range.

        client = RewardClient("http://127.0.0.1:10907")
        candidates = [Candidate(text, reference_code=problem) for text in texts]
        batch = asyncio.run(client.evaluate(candidates))
        print(batch)                    # 64 candidates, 2 without a score: network 2
        print(batch.scores)             # (1.31, 0.0, None, ...)
    """

    def __init__(self, url: str, *, token: str | None = None, concurrency: int = 64, patience_s: float = 3600.0,
                 evaluations: int = 3, wait_s: int = 30, backoff_s: tuple[float, float] = (0.5, 30.0),
                 ssl_context: ssl.SSLContext | None = None) -> None:
        first, longest = backoff_s
        if concurrency < 1 or evaluations < 1:
            raise ValueError("concurrency, evaluations: at least 1 is expected")
        if not 0 <= wait_s <= 3600 or wait_s != int(wait_s):
            raise ValueError("wait_s: a whole number from 0 to 3600 is expected")
        if not (0 < first <= longest < math.inf) or not 0 <= patience_s < math.inf:
            raise ValueError("backoff_s, patience_s: finite seconds are expected, and pauses that grow from above 0")
        self._endpoint = Endpoint(url, token, ssl_context)
        self._concurrency, self._patience_s, self._evaluations = concurrency, patience_s, evaluations
        self._wait_s, self._first_s, self._longest_s = int(wait_s), first, longest
        self._slots: dict[asyncio.AbstractEventLoop, asyncio.Semaphore] = {}
        self._lock = threading.Lock()
        self._silent_since: float | None = 0.0  # time of the first failure to reach it; None once reported

    def __repr__(self) -> str:
        return f"RewardClient({self._endpoint.shown!r})"

    async def evaluate(self, candidates: Iterable[Candidate]) -> RewardBatch:
        """The reward of each candidate, in the order given.

        Candidates with the same id are evaluated once. If the call is cancelled, its requests at the service
        are cancelled, too. A second call with the same candidates, even from another process, gets the
        results that the service still has.

        A failure of the machine, the network or one request gives a reward of None with its reason. Raises
        kernelsmith.Error only if no request can work: "permission" for the token, "not_found" for the
        address, "untrusted" for the certificate. Then the other requests are cancelled. Raises ValueError if
        two different candidates have the same id.
        """
        listed = list(candidates)
        distinct = {candidate.id: candidate for candidate in listed}
        for candidate in listed:
            if candidate.content() != distinct[candidate.id].content():
                raise ValueError(f"two candidates have the id {candidate.id!r}")
        tasks = {name: asyncio.ensure_future(self.reward(candidate)) for name, candidate in distinct.items()}
        try:
            for ended in asyncio.as_completed(tasks.values()):
                await ended
        finally:  # no request outlives the call. Each is cancelled once, so that it can tell the service.
            for task in tasks.values():
                task.cancel()
            await asyncio.gather(*tasks.values(), return_exceptions=True)
        return RewardBatch(tuple(tasks[candidate.id].result() for candidate in listed))

    async def reward(self, candidate: Candidate) -> Reward:
        """The reward of one candidate, as from `evaluate`."""
        async with self._slot():
            return await _Pursuit(self, candidate).run()

    def _heard(self, trouble: Trouble | None) -> None:
        """Warns that the service does not answer: once, and again only after it has answered."""
        if trouble is None:
            self._silent_since = 0.0
        elif self._silent_since is not None:
            self._silent_since = self._silent_since or time.monotonic()
            if (silent := time.monotonic() - self._silent_since) >= SILENT_S:
                self._silent_since = None
                log.warning("%s has not answered for %.0f s: %s. It is asked again; the client gives up a candidate after %g s "
                            "(patience_s). Is the address right, and does the service run?", self._endpoint.shown, silent,
                            trouble.message, self._patience_s)

    def _slot(self) -> asyncio.Semaphore:
        """The loop's semaphore. A semaphore belongs to one event loop, and would keep it alive."""
        loop = asyncio.get_running_loop()
        with self._lock:
            if loop not in self._slots:
                self._slots = {other: slots for other, slots in self._slots.items() if not other.is_closed()}
                self._slots[loop] = asyncio.Semaphore(self._concurrency)
            return self._slots[loop]


class _Pursuit:
    """Requests one candidate until there is a reward."""

    def __init__(self, client: RewardClient, candidate: Candidate) -> None:
        self._client, self._candidate = client, candidate
        self._id, self._ids = candidate.id, 0
        self._attempts, self._evaluations, self._failures_in_a_row = 1, 0, 0
        self._begun = asyncio.get_running_loop().time()

    def _left_s(self) -> float:
        return self._begun + self._client._patience_s - asyncio.get_running_loop().time()

    async def run(self) -> Reward:
        try:
            while isinstance(outcome := await self._submit(), Trouble):
                self._note(outcome)
                if self._is_over(outcome):
                    return await self._give_up(outcome)
                await asyncio.sleep(max(0.0, min(self._pause_s(outcome), self._left_s())))
        except asyncio.CancelledError:
            await self._cancel()
            raise
        return dataclasses.replace(outcome, attempts=self._attempts)

    async def _submit(self) -> Reward | Trouble:
        """Submits the request and waits. The service evaluates a request that it knows only once, and one
        that it lost again."""
        refused = unsendable(self._candidate)
        if refused is not None:
            return refused
        body = json.dumps({**self._candidate.content(), "task_id": self._id}).encode()
        wait = min(self._client._wait_s, max(0, math.ceil(self._left_s())))
        try:
            reply = await self._client._endpoint.ask("POST", f"/evaluate?wait={wait}", body, wait + ANSWER_S)
        except ssl.SSLCertVerificationError as error:
            raise Error(f"the certificate was not accepted: {error.verify_message}", "untrusted",
                        self._client._endpoint.shown) from None
        except OSError as error:
            late = f"no answer came in {wait + ANSWER_S:g} s" if isinstance(error, TimeoutError) else ""
            unheard = Trouble(Kind.UNHEARD, "network", late or str(error) or type(error).__name__)
            self._client._heard(unheard)
            return unheard
        self._client._heard(None)
        return outcome_of(reply, self._candidate, self._id)

    def _note(self, trouble: Trouble) -> None:
        if trouble.kind is Kind.PENDING:
            self._failures_in_a_row = 0
            return
        log.info("%s: %s (%s)", self._id, trouble.message, trouble.reason)
        self._failures_in_a_row += trouble.kind is not Kind.CANCELLED
        self._evaluations += trouble.kind in (Kind.FAILED, Kind.TIMED_OUT)

    def _is_over(self, trouble: Trouble) -> bool:
        return trouble.kind is Kind.REFUSED or self._evaluations >= self._client._evaluations or self._left_s() <= 0

    def _pause_s(self, trouble: Trouble) -> float:
        """Prepares the next try, and returns the seconds until it."""
        if trouble.kind is not Kind.PENDING:
            self._attempts += 1
        if trouble.kind in (Kind.TIMED_OUT, Kind.CANCELLED):
            self._ids += 1
            self._id = f"{self._candidate.id}.{self._ids}"
        doublings = min(max(0, self._failures_in_a_row - 1), 60)  # a float holds no power of a million
        pause = min(self._client._first_s * 2.0**doublings, self._client._longest_s) * random.uniform(0.5, 1.0)
        return max(pause, min(trouble.pause_s, self._client._longest_s))

    async def _give_up(self, trouble: Trouble) -> Reward:
        if trouble.kind in (Kind.PENDING, Kind.UNHEARD):
            await self._cancel()
        return Reward(self._candidate.id, None, reason=trouble.reason, message=trouble.message, attempts=self._attempts)

    async def _cancel(self) -> None:
        """Cancels the request, because nobody waits for it. If that does not reach the service, the only loss
        is a useless evaluation."""
        try:
            await self._client._endpoint.ask("DELETE", "/tasks/" + urllib.parse.quote(self._id, safe=""), b"", CANCEL_S)
        except OSError:
            pass
