"""Measure recall on public conversation benchmarks, against other memory systems and a plain baseline."""
