"""Stubs of Ollama's, Anthropic's and OpenAI's servers: small, and accepted by the services' own clients (judge.py).

usage: stub.py            prints its port, then serves on loopback until its input ends

POST /stub/next  {"fault": NAME}   what the next call does instead of answering:
    error-in-stream, no-done, slow-refusal (Anthropic), refusal (OpenAI)
GET  /stub/requests                what was asked, as JSON
"""

import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TEXT = ["Grün ", "🙂 ", "“ja”"]
requests = []
faults = []
lock = threading.Lock()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    # Answers

    def reply(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.send_header("request-id", "req_stub")
        self.end_headers()
        self.wfile.write(body)

    def begin(self, kind):
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()

    def chunk(self, data):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def end(self):
        self.wfile.write(b"0\r\n\r\n")

    def anthropic_error(self, status, kind, message):
        self.reply(status, {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_stub"})

    def openai_error(self, status, kind, code, message):
        self.reply(status, {"error": {"message": message, "type": kind, "param": None, "code": code}})

    def has_key(self):
        """The service takes the key in either header."""
        return "stub-key-1234" in (self.headers.get("x-api-key"),
                                   (self.headers.get("authorization") or "").removeprefix("Bearer "))

    # Requests

    def do_GET(self):
        if self.path == "/stub/requests":
            with lock:
                self.reply(200, requests)
        elif self.path == "/api/version":
            self.reply(200, {"version": "0.12.6"})
        elif self.path == "/api/tags":
            details = {"format": "gguf", "family": "llama", "families": ["llama"], "parameter_size": "3B",
                       "quantization_level": "Q4_K_M", "parent_model": ""}
            self.reply(200, {"models": [{"name": "stub:latest", "model": "stub:latest", "size": 1,
                                         "modified_at": "2026-01-01T00:00:00Z", "digest": "0" * 64,
                                         "details": details}]})
        elif self.path.startswith("/openai/v1/models"):
            if not self.has_key():
                return self.openai_error(401, "invalid_request_error", "invalid_api_key", "Incorrect API key provided")
            self.reply(200, {"object": "list", "data": [{"id": "gpt-stub", "object": "model", "created": 1767225600,
                                                         "owned_by": "system"}]})
        elif self.path.startswith("/v1/models"):
            if not self.has_key():
                return self.anthropic_error(401, "authentication_error", "invalid x-api-key")
            self.reply(200, {"data": [{"type": "model", "id": "claude-stub", "display_name": "Stub",
                                       "created_at": "2026-01-01T00:00:00Z", "max_input_tokens": 200000,
                                       "max_tokens": 64000, "capabilities": None, "lifecycle": None}],
                             "has_more": False, "first_id": "claude-stub", "last_id": "claude-stub"})
        else:
            self.reply(404, {"error": "not found"})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}")
        if self.path == "/stub/next":
            with lock:
                faults.append(body["fault"])
            return self.reply(200, {})
        with lock:
            requests.append({"path": self.path, "body": body})
            fault = faults.pop(0) if faults else ""
        if self.path == "/api/chat":
            self.ollama(body, fault)
        elif self.path == "/v1/messages":
            self.anthropic(body, fault)
        elif self.path == "/openai/v1/chat/completions":
            self.openai(body, fault)
        else:
            self.reply(404, {"error": "not found"})

    # Ollama

    def ollama(self, body, fault):
        model = body.get("model", "")
        if model not in ("stub", "stub:latest"):
            return self.reply(404, {"error": f"model '{model}' not found"})

        def line(text, **more):
            return {"model": model, "created_at": "2026-01-01T00:00:00.000000Z",
                    "message": {"role": "assistant", "content": text}, "done": False, **more}

        text = ['{"quote":', ' "Grün"}'] if body.get("format") else TEXT
        count = sum(len(m["content"].encode()) for m in body["messages"]) // 4
        context = body.get("options", {}).get("num_ctx", 4096)
        last = line("", done=True, done_reason="stop", total_duration=5, load_duration=1, prompt_eval_duration=1,
                    prompt_eval_count=min(count, context), eval_count=len(text), eval_duration=1)
        if not body.get("stream", True):
            return self.reply(200, {**last, "message": {"role": "assistant", "content": "".join(text)}})
        self.begin("application/x-ndjson")
        for index, piece in enumerate(text):
            if fault == "error-in-stream" and index == 1:
                self.chunk(b'{"error":"model runner has unexpectedly stopped"}\n')
                return self.end()
            data = json.dumps(line(piece), ensure_ascii=False).encode() + b"\n"
            # Split within a character, if there is one.
            self.chunk(data[: len(data) // 2])
            self.chunk(data[len(data) // 2 :])
        if fault != "no-done":
            self.chunk(json.dumps(last).encode() + b"\n")
        self.end()

    # Anthropic

    def anthropic(self, body, fault):
        if not self.has_key():
            return self.anthropic_error(401, "authentication_error", "invalid x-api-key")
        if not self.headers.get("anthropic-version"):
            return self.anthropic_error(400, "invalid_request_error", "anthropic-version: header is required")
        for name in ("temperature", "top_p", "top_k"):
            if name in body:
                return self.anthropic_error(400, "invalid_request_error", f"`{name}` is deprecated for this model.")
        if not isinstance(body.get("max_tokens"), int) or not body.get("messages"):
            return self.anthropic_error(400, "invalid_request_error", "max_tokens: Field required")
        if body["messages"][-1]["role"] != "user":
            return self.anthropic_error(400, "invalid_request_error", "prefilling assistant messages is not supported")
        marks = json.dumps(body).count('"cache_control"')
        if marks > 4:
            return self.anthropic_error(400, "invalid_request_error", "A maximum of 4 blocks with cache_control")
        if fault == "slow-refusal":
            return self.anthropic_error(529, "overloaded_error", "Overloaded")
        text = ['{"quote":', ' "Grün"}'] if body.get("output_config") else TEXT
        usage = {"input_tokens": 12, "cache_creation_input_tokens": 7 if marks else 0, "cache_read_input_tokens": 0,
                 "output_tokens": 1}
        message = {"id": "msg_stub", "type": "message", "role": "assistant", "content": [], "model": body["model"],
                   "stop_reason": None, "stop_sequence": None, "usage": usage}
        if not body.get("stream"):
            return self.reply(200, {**message, "content": [{"type": "text", "text": "".join(text)}],
                                    "stop_reason": "end_turn", "usage": {**usage, "output_tokens": 9}})
        self.begin("text/event-stream; charset=utf-8")

        def event(kind, **value):
            data = json.dumps({"type": kind, **value}, ensure_ascii=False)
            data = f"event: {kind}\ndata: {data}\n\n".encode()
            self.chunk(data[: len(data) // 2])
            self.chunk(data[len(data) // 2 :])

        event("message_start", message=message)
        event("content_block_start", index=0, content_block={"type": "text", "text": ""})
        event("ping")
        for index, piece in enumerate(text):
            if fault == "error-in-stream" and index == 1:
                event("error", error={"type": "overloaded_error", "message": "Overloaded"})
                return self.end()
            event("content_block_delta", index=0, delta={"type": "text_delta", "text": piece})
        if fault == "no-done":
            return self.end()
        event("content_block_stop", index=0)
        event("message_delta", delta={"stop_reason": "end_turn", "stop_sequence": None}, usage={"output_tokens": 9})
        event("message_stop")
        self.end()

    # OpenAI

    def openai(self, body, fault):
        if not self.has_key():
            return self.openai_error(401, "invalid_request_error", "invalid_api_key", "Incorrect API key provided")
        model = body.get("model", "")
        if model != "gpt-stub":
            return self.openai_error(404, "invalid_request_error", "model_not_found",
                                     f"The model `{model}` does not exist or you do not have access to it.")
        if not body.get("messages"):
            return self.openai_error(400, "invalid_request_error", None, "Missing required parameter: 'messages'.")
        if body.get("stream_options") and not body.get("stream"):
            return self.openai_error(400, "invalid_request_error", None,
                                     "The 'stream_options' parameter is only allowed when 'stream' is enabled.")
        shape = body.get("response_format") or {}
        if shape.get("type") == "json_schema":
            wanted = shape.get("json_schema", {})
            complaint = self.strict_schema(wanted.get("schema", {})) if wanted.get("strict") else None
            if not wanted.get("name") or complaint:
                return self.openai_error(400, "invalid_request_error", None,
                                         f"Invalid schema for response_format: {complaint or 'name is missing'}")
        refused = fault == "refusal"
        text = ['{"quote":', ' "Grün"}'] if shape else TEXT
        usage = {"prompt_tokens": 19, "completion_tokens": 9, "total_tokens": 28,
                 "prompt_tokens_details": {"cached_tokens": 7, "audio_tokens": 0},
                 "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0,
                                               "accepted_prediction_tokens": 0, "rejected_prediction_tokens": 0}}
        head = {"id": "chatcmpl-stub", "created": 1767225600, "model": "gpt-stub-2026-01-01",
                "service_tier": "default", "system_fingerprint": "fp_stub"}
        if not body.get("stream"):
            message = {"role": "assistant", "content": None if refused else "".join(text),
                       "refusal": "I will not." if refused else None, "annotations": []}
            return self.reply(200, {**head, "object": "chat.completion", "usage": usage, "choices": [
                {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}]})
        self.begin("text/event-stream; charset=utf-8")
        counts = (body.get("stream_options") or {}).get("include_usage")

        def data(value):
            data = f"data: {value}\n\n".encode()
            self.chunk(data[: len(data) // 2])
            self.chunk(data[len(data) // 2 :])

        def part(choices, usage=None):
            more = {"usage": usage} if counts else {}
            data(json.dumps({**head, "object": "chat.completion.chunk", "choices": choices, "obfuscation": "aB3",
                             **more}, ensure_ascii=False))

        def delta(value, reason=None):
            part([{"index": 0, "delta": value, "logprobs": None, "finish_reason": reason}])

        delta({"role": "assistant", "content": "", "refusal": None})
        for index, piece in enumerate(["I ", "will not."] if refused else text):
            if fault == "error-in-stream" and index == 1:
                data(json.dumps({"error": {"message": "The server had an error", "type": "server_error",
                                           "param": None, "code": None}}))
                return self.end()
            delta({"refusal" if refused else "content": piece})
        if fault == "no-done":
            return self.end()
        delta({}, "stop")
        if counts:
            part([], usage)
        data("[DONE]")
        self.end()

    @classmethod
    def strict_schema(cls, schema):
        """What the service minds in a strict schema: every object is closed and wants all its members."""
        if schema.get("type") == "object":
            if schema.get("additionalProperties") is not False:
                return "'additionalProperties' is required to be supplied and to be false."
            if set(schema.get("required", [])) != set(schema.get("properties", {})):
                return "'required' is required to be supplied and to be an array including every key in properties."
        inner = [*schema.get("properties", {}).values(), *([schema["items"]] if "items" in schema else [])]
        return next(filter(None, map(cls.strict_schema, inner)), None)


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
print(server.server_address[1], flush=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.stdin.read()
os._exit(0)
