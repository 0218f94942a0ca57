"""The event loop for evaluators and proposers that are coroutines: one thread, started with the first
coroutine."""

from __future__ import annotations

import inspect
import os
import threading
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio

_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None


def is_coroutine_function(function: Any) -> bool:
    """Whether calling `function` returns a coroutine. For an object, its __call__ decides."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None))


def start(function: Callable[[Any], Awaitable[Any]], argument: Any,
          done: Callable[[asyncio.Task[Any]], object]) -> Callable[[], object]:
    """Starts function(argument) on the loop. When the task ends, calls `done` with it on the loop. Returns a
    function that cancels the task. Any thread may call start() and that function, and both return at once."""
    loop = _running_loop()
    tasks: list[asyncio.Task[Any]] = []

    def begin() -> None:
        tasks.append(loop.create_task(_guarded(function, argument)))
        tasks[0].add_done_callback(done)

    def cancel() -> None:
        loop.call_soon_threadsafe(lambda: tasks[0].cancel())

    loop.call_soon_threadsafe(begin)
    return cancel


async def _guarded(function: Callable[[Any], Awaitable[Any]], argument: Any) -> Any:
    """Turns KeyboardInterrupt and SystemExit into RuntimeError, because asyncio would end the loop and all
    its tasks."""
    try:
        return await function(argument)
    except (KeyboardInterrupt, SystemExit) as raised:
        raise RuntimeError(f"{type(raised).__name__} in a coroutine") from raised


def _running_loop() -> asyncio.AbstractEventLoop:
    global _loop
    import asyncio

    with _lock:
        if _loop is None:
            _loop = asyncio.new_event_loop()
            threading.Thread(target=_loop.run_forever, name="kernelsmith-loop", daemon=True).start()
        return _loop


def _forget_after_fork() -> None:
    """Forgets the loop and the lock, because threads do not survive a fork and locks keep their state."""
    global _lock, _loop
    _lock = threading.Lock()
    _loop = None


os.register_at_fork(after_in_child=_forget_after_fork)
