#!/usr/bin/env python3
"""Answers every request alike, from a string: a server that costs next to nothing, so that a client's own time shows.

Stands in for ron-mock-plane: `STEWARD_RON_MOCK_PLANE=Benchmarks/canned_answers.py Benchmarks/run.sh ron`.
"""
import selectors, signal, socket, sys

BODY = b'{"message":"Hello from the app plane"}'
# The headers that ron-mock-plane sends.
ANSWER = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nx-request-id: 9f0d8c1e-62c7-4d0c-b5cb-4a5b6f0d8c1e\r\n"
    b"x-correlation-id: 9f0d8c1e-62c7-4d0c-b5cb-4a5b6f0d8c1e\r\nDate: Mon, 23 Nov 2026 08:00:00 GMT\r\n"
    b"Content-Length: %d\r\n\r\n%b" % (len(BODY), BODY))


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    waiting = selectors.DefaultSelector()
    with socket.create_server(("127.0.0.1", 0), backlog=128) as listener:
        print(f"answers at http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
        waiting.register(listener, selectors.EVENT_READ)
        while True:
            for key, _ in waiting.select():
                if key.fileobj is listener:
                    connection, _ = listener.accept()
                    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    waiting.register(connection, selectors.EVENT_READ)
                    continue
                # A request has no body, and comes in one piece.
                received = key.fileobj.recv(65_536)
                if received:
                    key.fileobj.sendall(ANSWER * received.count(b"\r\n\r\n"))
                else:
                    waiting.unregister(key.fileobj)
                    key.fileobj.close()


main()
