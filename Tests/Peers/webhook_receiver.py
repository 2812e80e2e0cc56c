#!/usr/bin/env python3
"""A receiver of Steward's webhooks that takes each event once, though it may be killed at any moment.

    webhook_receiver.py --port PORT --log FILE [--secret SECRET] [--trouble SEED]

FILE gets one line of JSON for each event that it has taken, synced before the sender is told: the first of each
`Idempotency-Key`. With --trouble it behaves as receivers do on a bad day: it says 503 and 429 with `Retry-After` and
`retry_after_ms`, or takes an event and hangs up before it has said so. The port stands on its output once it listens.
"""

import argparse
import hashlib
import hmac
import http.server
import json
import os
import random
import socketserver
import threading
import time


def is_authentic(secret, headers, body, tolerance=300):
    """Whether `body` comes under this key from who has the secret, and was sent within the last five minutes."""
    timestamp, key = headers.get("X-Steward-Timestamp", ""), headers.get("Idempotency-Key", "")
    if not timestamp.isdecimal() or abs(time.time() - int(timestamp)) > tolerance:
        return False
    signed = f"{timestamp}.{key}.".encode() + body
    expected = "sha256=" + hmac.new(secret, signed, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected.encode(), headers.get("X-Steward-Signature", "").encode())


class Taken:
    """The events that have been taken, on the disk."""

    def __init__(self, path):
        self.lock = threading.Lock()
        self.file = open(path, "ab+")
        self.file.seek(0)
        whole = self.file.read()
        # A line that a kill has cut off was never confirmed.
        whole = whole[: whole.rfind(b"\n") + 1]
        self.file.truncate(len(whole))
        self.ids = {json.loads(line)["id"] for line in whole.splitlines()}

    def take(self, event):
        with self.lock:
            if event["id"] in self.ids:
                return False
            self.file.write(json.dumps(event).encode() + b"\n")
            self.file.flush()
            os.fsync(self.file.fileno())
            self.ids.add(event["id"])
            return True


def handler(taken, secret, trouble):
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

        def answer(self, status, body=b"", headers=()):
            self.send_response(status)
            for name, value in headers:
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_HEAD(self):
            self.answer(200)

        def do_POST(self):
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            event = {"id": self.headers["Idempotency-Key"], "path": self.path, "body": body.decode()}
            for name in ["X-Idempotency-Key", "X-Steward-Event", "X-Steward-Delivery", "Authorization"]:
                event[name.lower()] = self.headers[name]
            if secret is not None and not is_authentic(secret, self.headers, body):
                # Not 400, by which the sender would give the event up: the secret may be about to be changed.
                return self.answer(401, b'{"code":"bad_signature","message":"the signature does not match"}')
            fate = trouble.random() if trouble else 1
            if fate < 0.1:
                return self.answer(503, b'{"code":"too_busy","message":"try again","retry_after_ms":20}')
            if fate < 0.15:
                return self.answer(429, b"slow down", [("Retry-After", "0")])
            taken.take(event)
            if fate < 0.25:
                # The answer is lost.
                self.close_connection = True
                return self.connection.close()
            self.answer(202, b'{"ok":true}')

    return Handler


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    allow_reuse_address = True

    def handle_error(self, request, client_address):
        # Whoever hangs up is the sender's own affair.
        pass


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--log", required=True)
    parser.add_argument("--secret")
    parser.add_argument("--trouble", type=int)
    options = parser.parse_args()
    secret = options.secret.encode() if options.secret else None
    trouble = None if options.trouble is None else random.Random(options.trouble)
    server = Server(("127.0.0.1", options.port), handler(Taken(options.log), secret, trouble))
    print(server.server_address[1], flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
