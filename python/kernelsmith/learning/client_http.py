"""One HTTP request over one connection, with only the standard library."""

from __future__ import annotations

import asyncio
import http.client
import io
import os
import ssl
import urllib.parse
from typing import Any, NamedTuple

TOKEN_VARIABLE = "KERNELSMITH_SERVICE_TOKEN"
# A result has some kilobytes. A larger answer does not come from the service.
MOST_BYTES = 64 << 20
READ_BLOCK = 1 << 16


class Reply(NamedTuple):
    """A complete answer. `pause_s` is from Retry-After, 0 if missing."""

    status: int
    body: bytes
    pause_s: float


class Broken(OSError):
    """The connection broke off, or the answer is not HTTP."""


class Endpoint:
    """The address of the service and the connection's settings."""

    def __init__(self, url: str, token: str | None, ssl_context: ssl.SSLContext | None) -> None:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("url: http://HOST:PORT or https://HOST:PORT is expected")
        secure = parts.scheme == "https"
        if ssl_context is not None and not secure:
            raise ValueError("ssl_context: the url is not https")
        self.host, self.port = parts.hostname, parts.port or (443 if secure else 80)
        self.path = parts.path.rstrip("/")
        self.shown = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{self.path}"
        self._tls = (ssl_context or ssl.create_default_context()) if secure else None
        password = urllib.parse.unquote(parts.password) if parts.password else None
        self._head = _common_head(parts.netloc.rpartition("@")[2], token or password or os.environ.get(TOKEN_VARIABLE))

    async def ask(self, method: str, path: str, body: bytes, timeout_s: float) -> Reply:
        """The answer. Raises OSError if there is no connection, if it breaks off, or (TimeoutError) if no
        answer comes in `timeout_s`."""
        head = f"{method} {self.path}{path} HTTP/1.1\r\n{self._head}Content-Length: {len(body)}\r\n\r\n"
        # asyncio.timeout is missing in Python 3.10, and its wait_for may lose a cancellation.
        exchange = asyncio.ensure_future(self._exchange(head.encode() + body))
        try:
            await asyncio.wait((exchange,), timeout=timeout_s)
            if not exchange.done():
                raise TimeoutError
            return exchange.result()
        finally:
            exchange.cancel()

    async def _exchange(self, request: bytes) -> Reply:
        reader, writer = await asyncio.open_connection(self.host, self.port, ssl=self._tls)
        try:
            writer.write(request)
            await writer.drain()
            return _parsed(await _read(reader))
        except (http.client.HTTPException, EOFError, ValueError) as error:
            raise Broken(f"the answer broke off, or is not HTTP ({type(error).__name__})") from error
        finally:
            writer.transport.abort()


def _common_head(host: str, token: str | None) -> str:
    lines = [f"Host: {host}", "Connection: close", "Content-Type: application/json", "Accept: application/json"]
    if token:
        if not token.isascii() or not token.isprintable():
            raise ValueError("token: printable ASCII is expected")
        lines.append(f"Authorization: Bearer {token}")
    return "".join(f"{line}\r\n" for line in lines)


async def _read(reader: asyncio.StreamReader) -> bytes:
    """Reads head and body. A body without a length ends with the connection."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.LimitOverrunError as error:
        raise ValueError("the header is too large") from error
    length = http.client.parse_headers(io.BytesIO(head.partition(b"\r\n")[2])).get("Content-Length")
    left = MOST_BYTES if length is None else int(length)
    if not 0 <= left <= MOST_BYTES:
        raise ValueError("the answer is too large")
    parts = [head]
    while left > 0 and (block := await reader.read(min(left, READ_BLOCK))):
        parts.append(block)
        left -= len(block)
    return b"".join(parts)


class _Received:
    """The source from which http.client reads an answer."""

    def __init__(self, raw: bytes) -> None:
        self._raw = raw

    def makefile(self, *_: Any) -> io.BytesIO:
        return io.BytesIO(self._raw)


def _parsed(raw: bytes) -> Reply:
    response = http.client.HTTPResponse(_Received(raw))  # type: ignore[arg-type]
    response.begin()
    body = response.read()
    pause = response.headers.get("Retry-After", "")
    return Reply(response.status, body, float(pause) if pause.isdecimal() else 0.0)
