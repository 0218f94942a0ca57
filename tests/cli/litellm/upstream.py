"""The scripted server behind LiteLLM's proxy: one reply, in each of the three protocols, streamed or whole."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

INPUT_TOKENS, OUTPUT_TOKENS = 1000, 100


def pieces(text):
    return [text[i:i + 7] for i in range(0, len(text), 7)]


def chat(text, model):
    usage = {"prompt_tokens": INPUT_TOKENS, "completion_tokens": OUTPUT_TOKENS,
             "total_tokens": INPUT_TOKENS + OUTPUT_TOKENS}
    head = {"id": "chatcmpl-1", "created": 1, "model": model}
    chunk = {**head, "object": "chat.completion.chunk"}
    message = {"role": "assistant", "content": text}
    whole = {**head, "object": "chat.completion", "usage": usage,
             "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    events = [{**chunk, "choices": [{"index": 0, "delta": {"role": "assistant", "content": piece},
                                     "finish_reason": None}]} for piece in pieces(text)]
    events.append({**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    events.append({**chunk, "choices": [], "usage": usage})
    return whole, [(None, event) for event in events] + [(None, "[DONE]")]


def responses(text, model):
    part = {"type": "output_text", "text": text, "annotations": []}
    item = {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": [part]}
    usage = {"input_tokens": INPUT_TOKENS, "output_tokens": OUTPUT_TOKENS, "total_tokens": INPUT_TOKENS + OUTPUT_TOKENS,
             "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    begun = {"id": "resp_1", "object": "response", "created_at": 1, "model": model, "status": "in_progress",
             "output": [], "parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "error": None}
    whole = {**begun, "status": "completed", "output": [item], "usage": usage}
    place = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    events = [{"type": "response.created", "response": begun},
              {"type": "response.output_item.added", "output_index": 0,
               "item": {**item, "status": "in_progress", "content": []}},
              {"type": "response.content_part.added", **place, "part": {**part, "text": ""}}]
    events += [{"type": "response.output_text.delta", **place, "delta": piece} for piece in pieces(text)]
    events += [{"type": "response.output_text.done", **place, "text": text},
               {"type": "response.content_part.done", **place, "part": part},
               {"type": "response.output_item.done", "output_index": 0, "item": item},
               {"type": "response.completed", "response": whole}]
    return whole, [(event["type"], {**event, "sequence_number": i}) for i, event in enumerate(events)]


def messages(text, model):
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": model, "stop_sequence": None}
    usage = {"input_tokens": INPUT_TOKENS, "output_tokens": OUTPUT_TOKENS}
    whole = {**head, "content": [{"type": "text", "text": text}], "stop_reason": "end_turn", "usage": usage}
    events = [{"type": "message_start", "message": {**head, "content": [], "stop_reason": None,
                                                    "usage": {"input_tokens": INPUT_TOKENS, "output_tokens": 1}}},
              {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}]
    events += [{"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}}
               for piece in pieces(text)]
    events += [{"type": "content_block_stop", "index": 0},
               {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None},
                "usage": {"output_tokens": OUTPUT_TOKENS}},
               {"type": "message_stop"}]
    return whole, [(event["type"], event) for event in events]


ANSWERS = {"/chat/completions": chat, "/responses": responses, "/messages": messages}


class Upstream:
    """Answers every request with `text`; `asked` holds the path and whether a stream was asked for, of each."""

    def __init__(self, text):
        self.asked = []
        upstream = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                path = self.path.split("?")[0].removeprefix("/v1")
                stream = bool(body.get("stream"))
                upstream.asked.append((path, stream))
                whole, events = ANSWERS[path](text, body["model"])
                sent = json.dumps(whole)
                if stream:
                    sent = "".join((f"event: {name}\n" if name else "") +
                                   f"data: {event if isinstance(event, str) else json.dumps(event)}\n\n"
                                   for name, event in events)
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream" if stream else "application/json")
                self.send_header("Content-Length", str(len(sent.encode())))
                self.end_headers()
                self.wfile.write(sent.encode())

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()
