"""The ensemble of language models: chooses one, sends the prompt, and returns the reply."""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
from dataclasses import dataclass
from typing import Any

from .. import _core
from .._errors import Error
from .sections import LLMModelConfig

# Google's server refuses calls with a seed.
_NO_SEED = "https://generativelanguage.googleapis.com"


@dataclass(frozen=True)
class Reply:
    text: str
    model: str
    usage: dict[str, Any] | None
    refusal: tuple[str, str] | None  # code and detail, if the model gave no usable answer


class Ensemble:
    """Models with weights. The seed and the ticket determine which model is drawn. Raises Error for unusable
    servers."""

    def __init__(self, models: list[LLMModelConfig], seed: int, concurrency: int) -> None:
        self._models = models
        self._seed = seed
        weights = [float(model.weight) for model in models]
        if sum(weights) <= 0:
            raise Error("no model has a weight above 0", "invalid_argument", "llm.models")
        self._weights = weights
        self._servers: dict[tuple[Any, ...], _core.Model] = {}
        for model in models:
            if not model.init_client:
                self._server_of(model, concurrency)
        self._own = {at: model.init_client(model) for at, model in enumerate(models) if model.init_client}

    def _server_of(self, model: LLMModelConfig, concurrency: int = 1) -> _core.Model:
        retries = model.retries if model.retries is not None else 3
        key = (model.api_base, model.api_key, model.timeout, retries)
        if key not in self._servers:
            self._servers[key] = _core.Model(model.api_base or "", model.api_key or "", float(model.timeout or 60),
                                             int(retries) + 1, max(1, concurrency))
        return self._servers[key]

    def chosen(self, ticket: int) -> int:
        """The index of the model for a ticket."""
        return random.Random(f"{self._seed}:{ticket}").choices(range(len(self._models)), self._weights)[0]

    def name(self, at: int) -> str:
        return str(self._models[at].name)

    async def ask(self, ticket: int, system: str, user: str) -> Reply:
        """The reply. Raises Error if there is none, and CancelledError if the call was cancelled."""
        at = self.chosen(ticket)
        model = self._models[at]
        if at in self._own:
            text = await self._own[at].generate_with_context(
                system_message=system, messages=[{"role": "user", "content": user}])
            return Reply(text or "", self.name(at), getattr(self._own[at], "last_usage", None), None)
        found = await self._sent(model, ticket, [{"role": "system", "content": system}, {"role": "user", "content": user}])
        return Reply(found["text"] or found["reasoning"], self.name(at), found["usage"], _refusal_of(found))

    async def _sent(self, model: LLMModelConfig, ticket: int, messages: list[dict[str, str]]) -> dict[str, Any]:
        loop = asyncio.get_running_loop()
        arrived: asyncio.Future[Any] = loop.create_future()

        def take(answer: Any) -> None:
            if not arrived.done():
                arrived.set_result(answer)

        give_up = self._server_of(model).start(
            model.name, messages, lambda answer: loop.call_soon_threadsafe(take, answer),
            max_output_tokens=model.max_tokens, temperature=model.temperature, top_p=model.top_p,
            reasoning_effort=model.reasoning_effort or "", extra_body=self._extra(model, ticket))
        try:
            answer = await arrived
        except asyncio.CancelledError:
            give_up()
            raise
        if isinstance(answer, Error):
            raise answer
        reply: dict[str, Any] = answer
        return reply

    def _extra(self, model: LLMModelConfig, ticket: int) -> str:
        """The call's additional fields. Each ticket has its own seed, because with one seed a server would
        give equal answers to equal prompts."""
        if (model.api_base or "").startswith(_NO_SEED):
            return ""
        seed = model.random_seed if model.random_seed is not None else self._seed
        digest = hashlib.sha256(f"{seed}:{ticket}:reply".encode()).digest()
        return json.dumps({"seed": int.from_bytes(digest[:4], "big") >> 1})


def _refusal_of(found: dict[str, Any]) -> tuple[str, str] | None:
    if found["finish"] == "declined":
        return "declined", found["finish_detail"]
    if found["text"] or found["reasoning"]:
        return None
    if found["finish"] == "length":
        return "truncated", "the limit of tokens (llm.max_tokens) was reached before the first word"
    return "empty_reply", f"the reply ended with \"{found['finish_detail']}\" and no text"
