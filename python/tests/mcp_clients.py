"""The official SDK's client against `kernelsmith mcp`, for tests."""

from __future__ import annotations

import contextlib
import sys

import support
from mcp import Client, StdioServerParameters, stdio_client


@contextlib.asynccontextmanager
async def over_stdio(*arguments):
    """A client of a server process of its own, which ends with it."""
    parameters = StdioServerParameters(command=sys.executable, args=["-m", "kernelsmith", "mcp", *map(str, arguments)],
                                       env=support.environment())
    async with Client(stdio_client(parameters), read_timeout_seconds=support.PATIENCE_S) as client:
        yield client


async def told(client, tool, **arguments):
    """What a tool answers, which is no error."""
    result = await client.call_tool(tool, arguments)
    text = "\n".join(part.text for part in result.content)
    assert not result.is_error, text
    return text


async def refused(client, tool, **arguments):
    """The one clear error that a tool answers."""
    result = await client.call_tool(tool, arguments)
    text = "\n".join(part.text for part in result.content)
    assert result.is_error, text
    assert 0 < len(text) < 2000 and "Traceback" not in text, text
    return text
