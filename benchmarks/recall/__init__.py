"""Recall measured on public conversation benchmarks, beside other memories and a plain baseline."""
