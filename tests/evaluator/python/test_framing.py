"""Messages: what is written is read back, and nothing that lies about its size or content passes."""

import io
import os
import struct
import subprocess
import sys
import unittest

from kernelsmith_process import framing
from kernelsmith_process.framing import Failure, FramingError, read_message, serve, write_message


def message(text: bytes, blob: bytes = b"") -> bytes:
    return struct.pack("<IQ", len(text), len(blob)) + text + blob


def answers(requests: bytes, handle) -> list:
    replies = io.BytesIO()
    serve(io.BytesIO(requests), replies, handle)
    replies.seek(0)
    told = []
    while (reply := read_message(replies)) is not None:
        told.append(reply)
    return told


class Framing(unittest.TestCase):
    def test_reads_what_was_written(self):
        stream = io.BytesIO()
        write_message(stream, {"do": "plan", "name": "ä"}, b"\x00\xff")
        write_message(stream, {})
        stream.seek(0)
        self.assertEqual(read_message(stream), ({"do": "plan", "name": "ä"}, b"\x00\xff"))
        self.assertEqual(read_message(stream), ({}, b""))
        self.assertIsNone(read_message(stream))

    def test_refuses_what_is_no_message(self):
        for what, bytes_ in {
            "ended within a message": message(b"{}")[:-1],
            "ended within": b"\x01\x00",
            "not JSON": message(b"{"),
            "not a JSON object": message(b"[]"),
            "is not JSON": message(b"[" * 100000),
        }.items():
            with self.subTest(what), self.assertRaisesRegex(FramingError, what):
                read_message(io.BytesIO(bytes_))

    def test_refuses_sizes_before_it_reads(self):
        for head in (struct.pack("<IQ", framing.MOST_JSON + 1, 0), struct.pack("<IQ", 2, framing.MOST_BLOB + 1)):
            with self.assertRaisesRegex(FramingError, "at most"):
                read_message(io.BytesIO(head))

    def test_writes_no_number_that_json_lacks(self):
        with self.assertRaises(ValueError):
            write_message(io.BytesIO(), {"x": float("nan")})

    def test_answers_each_request_once(self):
        def handle(request, blob):
            if request["do"] == "fail":
                raise Failure("candidate", "plan", "no_model_new", "none", "write one", "a.py:1", names=["x"])
            if request["do"] == "break":
                raise KeyError("gone")
            return {"size": len(blob)}, blob * 2

        told = answers(message(b'{"do":"echo"}', b"ab") + message(b'{"do":"fail"}') + message(b'{"do":"break"}'), handle)
        self.assertEqual(told[0], ({"ok": True, "size": 2}, b"abab"))
        self.assertEqual(told[1][0]["error"], {
            "fault": "candidate", "stage": "plan", "code": "no_model_new", "message": "none", "hint": "write one",
            "where": "a.py:1", "names": ["x"]})
        self.assertEqual(told[2][0]["error"]["code"], "internal")

    def test_ends_where_no_message_can_follow(self):
        told = answers(message(b"nonsense") + message(b"{}"), lambda request, blob: ({}, b""))
        self.assertEqual([reply["error"]["code"] for reply, _ in told], ["bad_message"])

    def test_prints_disturb_no_reply(self):
        program = ("import os, sys\nfrom kernelsmith_process import framing\nrequests, replies = framing.take_streams()\n"
                   "def handle(request, blob):\n    print('noise'); os.system('echo more noise'); return {'in': sys.stdin.read()}, b''\n"
                   "framing.serve(requests, replies, handle)\n")
        done = subprocess.run([sys.executable, "-c", program], input=message(b"{}") * 2, capture_output=True, check=True,
                              env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
        stream = io.BytesIO(done.stdout)
        self.assertEqual(read_message(stream), ({"ok": True, "in": ""}, b""))
        self.assertEqual(read_message(stream), ({"ok": True, "in": ""}, b""))
        self.assertIsNone(read_message(stream))
        self.assertIn(b"more noise", done.stderr)


if __name__ == "__main__":
    unittest.main()
