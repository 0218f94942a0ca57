"""Load on `kernelsmith serve`: N requests at once, each submitted and polled as verl's client does it.

    service_load.py --kernelsmith build/dev/bin/kernelsmith [--requests 1000] [--poll 1.0] [--repeat 0.2] [--cancel 20]

Starts a service over a task of the backend `command` whose candidates are their own scores. Every client has a
connection of its own. Prints the rate, percentiles of POST /evaluate and of the whole, what was lost (no result, or another
candidate's), what was evaluated twice, and how long candidates that were cancelled lived on.
"""

import argparse
import asyncio
import json
import os
import random
import subprocess
import tempfile
import time
from pathlib import Path

TASK = """\
version: 1
name: load
backend: command
files: {seed: seed.txt, also: score.sh}
command: [sh, score.sh, "{candidate}", "{answer}"]
timeout_s: 600
"""
SCORE = """\
read -r what < "$1"
[ "$what" != hang ] || exec sleep MARKER
echo "{\\"fitness\\": $what}" > "$2"
"""
FINAL = ("completed", "failed", "timeout", "cancelled")


class Client:
    """HTTP/1.1 over one connection that is kept."""

    def __init__(self, port):
        self.port, self.streams = port, None

    async def ask(self, method, path, body=None):
        if self.streams is None:
            self.streams = await asyncio.open_connection("127.0.0.1", self.port)
        reader, writer = self.streams
        payload = b"" if body is None else json.dumps(body).encode()
        writer.write(f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(payload)}\r\n\r\n".encode() + payload)
        await writer.drain()
        header = (await reader.readuntil(b"\r\n\r\n")).decode()
        fields = dict(line.split(": ", 1) for line in header.split("\r\n")[1:] if line)
        text = await reader.readexactly(int(fields["Content-Length"]))
        if fields.get("Connection") == "close":
            self.close()
        return int(header.split()[1]), json.loads(text) if text.startswith(b"{") else text.decode()

    def close(self):
        if self.streams:
            self.streams[1].close()
        self.streams = None


class Load:
    def __init__(self, port, options):
        self.port, self.options = port, options
        self.post_s, self.whole_s, self.backed_off, self.lost = [], [], 0, 0

    async def one(self, number):
        client = Client(self.port)
        body = {"task_id": f"load-{number}", "kernel_code": str(number + 0.5), "timeout": 300, "priority": "normal"}
        begun = time.monotonic()
        times = 2 if random.random() < self.options.repeat else 1  # a client that did not see the first answer
        while times > 0:
            asked = time.monotonic()
            status, _ = await client.ask("POST", "/evaluate", body)
            if status in (429, 503):
                self.backed_off += 1
                await asyncio.sleep(self.options.poll)
                continue
            self.post_s.append(time.monotonic() - asked)
            times -= 1
        while True:
            _, data = await client.ask("GET", f"/status/load-{number}")
            if data["status"] in FINAL:
                break
            await asyncio.sleep(self.options.poll)
        status, result = await client.ask("GET", f"/results/load-{number}")
        self.whole_s.append(time.monotonic() - begun)
        self.lost += status != 200 or result["status"] != "completed" or result["speedup"] != number + 0.5
        client.close()

    async def cancel_one(self, number, marker):
        """Seconds from DELETE to the end of the candidate's process."""
        client = Client(self.port)
        await client.ask("POST", "/evaluate", {"task_id": f"cancel-{number}", "kernel_code": "hang"})
        while not runs(marker):
            await asyncio.sleep(0.005)
        begun = time.monotonic()
        await client.ask("DELETE", f"/tasks/cancel-{number}")
        while runs(marker):
            await asyncio.sleep(0.005)
        client.close()
        return time.monotonic() - begun


def runs(marker):
    wanted = b"sleep\0" + marker.encode() + b"\0"
    for cmdline in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if cmdline.read_bytes() == wanted:
                return True
        except OSError:
            pass  # it ended meanwhile
    return False


def percentiles(seconds):
    ordered = sorted(seconds)
    return ", ".join(f"{name} {ordered[int(q * (len(ordered) - 1))] * 1000:.1f} ms"
                     for name, q in (("median", 0.5), ("p90", 0.9), ("p99", 0.99), ("most", 1)))


async def measure(port, options, marker):
    load = Load(port, options)
    begun = time.monotonic()
    await asyncio.gather(*(load.one(i) for i in range(options.requests)))
    took = time.monotonic() - begun
    killed = [await load.cancel_one(i, marker) for i in range(options.cancel)]
    _, metrics = await Client(port).ask("GET", "/metrics")
    evaluated = next(int(float(line.split()[1])) for line in metrics.splitlines()
                     if line.startswith("kernelsmith_evaluation_seconds_count"))
    print(f"{options.requests} requests at once in {took:.2f} s: {options.requests / took:.0f}/s")
    print(f"POST /evaluate: {percentiles(load.post_s)}")
    print(f"to the result:  {percentiles(load.whole_s)} (status is asked every {options.poll:g} s)")
    print(f"asked to come again: {load.backed_off}; lost: {load.lost}; done twice: {evaluated - options.requests - options.cancel}")
    if killed:
        print(f"cancelled to killed: {percentiles(killed)}")
    return load.lost == 0 and evaluated == options.requests + options.cancel


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernelsmith", default="build/dev/bin/kernelsmith", help="the command")
    parser.add_argument("--requests", type=int, default=1000)
    parser.add_argument("--poll", type=float, default=1.0, help="seconds between two questions for the status")
    parser.add_argument("--repeat", type=float, default=0.2, help="share of the requests that are submitted twice")
    parser.add_argument("--cancel", type=int, default=20, help="requests that are cancelled at the end, one by one")
    parser.add_argument("options", nargs="*", help="options of `kernelsmith serve`, behind --")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        marker = f"4{os.getpid()}.5"
        for name, text in (("task.yaml", TASK), ("score.sh", SCORE.replace("MARKER", marker)), ("seed.txt", "1\n")):
            (Path(folder) / name).write_text(text)
        service = subprocess.Popen([options.kernelsmith, "serve", "--task", folder, "--port", "0", *options.options],
                                   stdout=subprocess.PIPE, text=True)
        try:
            port = int(service.stdout.readline().rpartition(":")[2])
            good = asyncio.run(measure(port, options, marker))
        finally:
            service.terminate()
            service.communicate()
    return 0 if good and service.returncode == 0 else 1


if __name__ == "__main__":
    raise SystemExit(main())
