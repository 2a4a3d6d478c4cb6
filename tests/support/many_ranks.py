"""Makes a run of many ranks from one Kineto trace: jitter, one slow rank, one late link.

usage: many_ranks.py FOLDER [--ranks N] [--slow-rank R] [--late-link A,B] [--input TRACE.json.gz]

Every rank's file is gzipped. The slow rank's kernels take half as long again;
what the ranks of the late link send and receive comes 2 ms later, so all others
wait for these two in every collective. Each rank's clock is off by its own few
milliseconds. What is equal on all ranks is compressed once: a .gz may hold
several members.
"""
import argparse
import gzip
import json
import pathlib
import random

from real_traces import real_trace

DEVICE_WORK = {"kernel", "gpu_memcpy", "gpu_memset"}
LATE_US = 2000.0


def is_device_work(event):
    return event.get("ph") == "X" and event.get("cat") in DEVICE_WORK


def is_collective(event):
    return event.get("cat") == "kernel" and "nccl" in event.get("name", "").lower()


def device_work(events, rank, ranks, slow, late, seed):
    """The base's device work as this rank would have seen it."""
    rng = random.Random(seed * 100_003 + rank)
    sequence = 0
    for event in events:
        copy = dict(event)
        if is_collective(event):
            # All parts of a collective end together: who comes late waits less.
            sequence += 1
            wait = 0.0 if late else LATE_US * (1 + 0.05 * rng.random())
            copy["ts"] = round(float(event["ts"]) + LATE_US * 1.05 - wait, 3)
            copy["dur"] = round(float(event["dur"]) + wait, 3)
            copy["args"] = {**event["args"], "Seq": sequence, "Group size": ranks}
        else:
            factor = (1.5 if slow else 1.0) * (1 + 0.02 * rng.gauss(0, 1))
            copy["dur"] = round(max(0.1, float(event["dur"]) * factor), 3)
        yield copy


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--ranks", type=int, default=1000)
    parser.add_argument("--slow-rank", type=int, default=7)
    parser.add_argument("--late-link", default="3,4")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--input")
    options = parser.parse_args()
    with gzip.open(options.input or real_trace("ddp_3steps_rank0.json.gz"), "rt", errors="replace") as source:
        trace = json.load(source, strict=False)
    events = trace.pop("traceEvents")
    base_ns = int(trace.pop("baseTimeNanoseconds", 0))
    group = {"pg_name": "0", "pg_desc": "default_pg", "pg_size": options.ranks, "ranks": list(range(options.ranks))}
    info = {**trace.pop("distributedInfo", {}), "pg_count": 1, "pg_config": [group]}
    members = json.dumps(trace)[1:-1]
    device = [event for event in events if is_device_work(event)]
    host = ",".join(json.dumps(event) for event in events if not is_device_work(event))
    shared = gzip.compress(f'{members}{", " if members else ""}"traceEvents": [{host}'.encode(), 1)
    late_link = {int(rank) for rank in options.late_link.split(",") if rank}
    folder = pathlib.Path(options.folder)
    folder.mkdir(parents=True, exist_ok=True)
    for rank in range(options.ranks):
        clock_ns = random.Random(options.seed * 7 + rank).randrange(-5_000_000, 5_000_000)
        own = {"baseTimeNanoseconds": base_ns + 10_000_000 + clock_ns,
               "distributedInfo": {**info, "rank": rank, "world_size": options.ranks}}
        work = device_work(device, rank, options.ranks, rank == options.slow_rank,
                           rank in late_link, options.seed)
        with open(folder / f"rank{rank:04}.json.gz", "wb") as out:
            out.write(gzip.compress((json.dumps(own)[:-1] + ", ").encode(), 1))
            out.write(shared)
            out.write(gzip.compress(("," + ",".join(map(json.dumps, work)) + "]}").encode(), 1))


if __name__ == "__main__":
    main()
