"""The event loop on which evaluators and proposers run that are coroutines: one thread, begun with the first."""

import asyncio
import concurrent.futures
import inspect
import threading
from collections.abc import Callable, Coroutine
from typing import Any

_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None


def is_coroutine_function(function: Any) -> bool:
    """Whether calling it gives a coroutine; objects are judged by their __call__."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None))


def start(function: Callable[[Any], Coroutine[Any, Any, Any]], argument: Any) -> concurrent.futures.Future[Any]:
    """Begins function(argument) on the loop. Callable from any thread."""
    return asyncio.run_coroutine_threadsafe(function(argument), _running_loop())


def cancel(future: concurrent.futures.Future[Any]) -> None:
    """Asks the loop to cancel what start() began; returns at once."""
    _running_loop().call_soon_threadsafe(future.cancel)


def _running_loop() -> asyncio.AbstractEventLoop:
    global _loop
    with _lock:
        if _loop is None:
            _loop = asyncio.new_event_loop()
            threading.Thread(target=_loop.run_forever, name="kernelsmith-loop", daemon=True).start()
        return _loop
