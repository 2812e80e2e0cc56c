"""Serves llmock on a free port of loopback: prints the port, and ends when its input does."""

import os
import sys

# Paced, so that the server sees a client stop reading before everything is sent.
os.environ["LLMOCK_STREAM_CHUNK_DELAY_MS"] = "30"
# Longer prompts, in tokens, do not fit.
os.environ["LLMOCK_CONTEXT_WINDOW"] = "8000"

from llmock.simulation import MockResponseSettings
from llmock.testing import LLMockServer

server = LLMockServer(responses=MockResponseSettings(response_style="static"))
server.start()
print(server.port, flush=True)
sys.stdin.read()
os._exit(0)
