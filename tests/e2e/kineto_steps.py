"""Kineto traces of a small training loop with chosen step times, for end-to-end tests."""
import gzip
import json
import random


def step_events(step, start_us, length_us, sync, arrives_us=None, busy_factor=1.0):
    """One step: python frames, operators, launches, kernels, and maybe a sync that stalls it, and an
    all-reduce that starts `arrives_us` after the step and ends with it on every rank."""
    pid, events = 4000, []

    def complete(cat, name, ts, dur, tid=pid, **args):
        events.append({"ph": "X", "cat": cat, "name": name, "pid": 0 if cat in ("kernel", "gpu_memcpy") else pid,
                       "tid": tid, "ts": round(ts, 3), "dur": round(dur, 3), "args": args})

    correlation = step * 100
    complete("user_annotation", f"ProfilerStep#{step}", start_us, length_us - 0.5)
    complete("python_function", "train.py(40): train_step", start_us + 1, length_us - 2)
    busy = (length_us - 40) / 10 * (1.0 if arrives_us is None else 0.5) * busy_factor
    for i in range(10):
        ts = start_us + 5 + i * 4
        complete("cpu_op", "aten::mm", ts, 3)
        complete("cuda_runtime", "cudaLaunchKernel", ts + 1, 1, correlation=correlation + i)
        complete("kernel", f"gemm_{i}", start_us + 20 + i * busy, busy, tid=7, device=0, stream=7,
                 correlation=correlation + i, grid=[8, 1, 1], block=[128, 1, 1])
    if arrives_us is not None:
        complete("cuda_runtime", "cudaLaunchKernelExC", start_us + 50, 1, correlation=correlation + 40)
        complete("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", start_us + arrives_us,
                 length_us - 20 - arrives_us, tid=20, device=0, stream=20, correlation=correlation + 40,
                 **{"Collective name": "allreduce", "In msg nelems": 1024, "dtype": "Float", "Seq": step,
                    "Process Group Name": "0"})
    if sync:
        end = start_us + length_us
        complete("python_function", "train.py(52): log_loss", start_us + 60, length_us - 65)
        complete("cpu_op", "aten::item", start_us + 62, length_us - 70)
        complete("cuda_runtime", "cudaMemcpyAsync", start_us + 63, 2, correlation=correlation + 50)
        complete("cuda_runtime", "cudaStreamSynchronize", start_us + 66, length_us - 76, correlation=correlation + 51)
        complete("gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", end - 15, 1, tid=7, device=0, stream=7,
                 correlation=correlation + 50, bytes=4)
    return events


def write_trace(path, step_us=10_000.0, steps=24, noise=0.005, level=0.0, seed=1, sync=False, rank=0, world=1,
                arrives=None, clock_us=0.0, busy_factor=1.0):
    """A trace whose steps take about `step_us`, the whole run shifted by `level`. With `arrives`, each
    step has an all-reduce that this rank enters after that share of it; the clock is off by `clock_us`."""
    rng = random.Random(seed)
    events, now = [], 1_000_000.0 + clock_us
    for step in range(steps):
        length = step_us * (1 + level) * (1 + noise * rng.gauss(0, 1))
        events += step_events(step + 1, now, length, sync,
                              None if arrives is None else arrives * length, busy_factor)
        now += length
    trace = {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H100"}],
             "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": world},
             "traceEvents": events, "baseTimeNanoseconds": 1_700_000_000_000_000_000}
    with gzip.open(path, "wt", compresslevel=1) as out:
        json.dump(trace, out)
    return str(path)
