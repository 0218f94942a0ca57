"""The Model Context Protocol server for a desk. It uses the protocol's official SDK."""

from __future__ import annotations

import functools
import inspect
import logging
import socket
from collections.abc import Callable
from typing import Any

from .. import __version__
from .._errors import Error
from .._words import visible
from .desk import Desk, task_text
from .notes import NOTES
from .tools import Tools

_LOCAL = ("127.0.0.1", "localhost", "::1")


def server_over(desk: Desk) -> Any:
    """An MCPServer with the tools and resources of a desk. Raises Error if the SDK is missing."""
    try:
        from mcp.server import MCPServer
        from mcp.server.mcpserver.exceptions import ToolError
    except ImportError as missing:
        raise Error(f"the Model Context Protocol's SDK is missing: {missing}", "tool_missing", "kernelsmith mcp",
                    "pip install 'mcp>=2,<3'") from None
    server = MCPServer("kernelsmith", version=__version__, instructions=NOTES["rules"], log_level="WARNING")
    for tool in Tools(desk).all():
        server.add_tool(_told(tool, ToolError), description=inspect.getdoc(tool), structured_output=False)
    _add_resources(server, desk)
    logging.getLogger("mcp").setLevel(logging.ERROR)
    return server


def _told(tool: Callable[..., str], failure: type[Exception]) -> Callable[..., str]:
    """The tool; its Errors become error answers of the protocol."""

    @functools.wraps(tool)
    def call(*args: Any, **keywords: Any) -> str:
        try:
            return tool(*args, **keywords)
        except Error as error:
            raise failure(str(error)) from None

    return call


def _add_resources(server: Any, desk: Desk) -> None:
    def task() -> str:
        """The program to make faster, and the rules."""
        return task_text(desk)

    def reference() -> str:
        """The program that defines correct outputs."""
        return "\n".join(f"--- {path}\n{text}" for path, text in desk.task.reference.files.items())

    def seed() -> str:
        """The program with which the search begins."""
        return "\n".join(f"--- {path}\n{text}" for path, text in desk.task.seed.files.items())

    reads = {"task": task}
    if len(desk.task.reference):
        reads["reference"] = reference
    if len(desk.task.seed):
        reads["seed"] = seed
    for name, read in reads.items():
        server.resource(f"kernelsmith://{name}", name=name, mime_type="text/plain")(read)
    for name, text in NOTES.items():
        server.resource(f"kernelsmith://docs/{name}", name=f"docs/{name}", mime_type="text/markdown")(_constant(text))


def _constant(text: str) -> Callable[[], str]:
    def read() -> str:
        """A page for agents."""
        return text

    return read


def address(text: str) -> tuple[str, int]:
    """The parts of HOST:PORT. HOST must be this machine, because a client can run programs in the sandbox and
    use up the budget. Raises Error, also if the port is in use."""
    host, _, port = text.rpartition(":")
    if host.strip("[]") not in _LOCAL or not port.isdigit() or not 1 <= int(port) <= 65535:
        raise Error(f"this is not an address of this machine: {visible(text)}", "invalid_argument", "--http",
                    "such as 127.0.0.1:8765; from elsewhere, reach it through a tunnel (ssh -L)")
    found = host.strip("[]"), int(port)
    try:
        with socket.create_server(found, family=socket.AF_INET6 if ":" in found[0] else socket.AF_INET):
            return found
    except OSError as taken:
        raise Error(f"the address cannot be used: {taken.strerror}", "busy", f"--http {visible(text)}", "name another port") from None
