"""Serve a model behind OpenAI's API on loopback until our input ends; its address is our first line."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path


def main(weights: str) -> None:
    llama = importlib.import_module("xllamacpp")
    wanted = llama.CommonParams()
    wanted.model.path = weights
    wanted.n_ctx, wanted.n_parallel, wanted.warmup = 8192, 1, False
    wanted.hostnames, wanted.port = ["127.0.0.1"], 0
    wanted.cpuparams.n_threads = wanted.cpuparams_batch.n_threads = 1  # several wait for each other where others work
    wanted.model_alias = {Path(weights).stem.lower()}
    wanted.n_predict = 300  # it would talk for ever
    wanted.sampling.seed, wanted.sampling.temp, wanted.sampling.penalty_repeat = 7, 0.3, 1.15
    server = llama.Server(wanted)
    print(f"{server.listening_address}/v1", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main(sys.argv[1])
