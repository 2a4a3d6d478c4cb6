"""Makes a run of many ranks from one Kineto trace: jitter, one slow rank, one late link.

usage: many_ranks.py FOLDER [--ranks N] [--slow-rank R] [--late-rank R] [--input TRACE.json.gz]

Every rank's file is gzipped. The slow rank's kernels take half as long again;
before each collective the late rank's launch comes 2 ms later.
"""
import argparse
import gzip
import json
import pathlib
import random

DEFAULT = pathlib.Path(__file__).resolve().parents[3] / "shared/data/traces/ddp_3steps_rank0.json.gz"
DEVICE_WORK = {"kernel", "gpu_memcpy", "gpu_memset"}
LATE_US = 2000.0


def is_collective(event):
    return event.get("cat") == "kernel" and "nccl" in event.get("name", "").lower()


def one_rank(events, rank, ranks, slow, late, seed):
    """The base's events as this rank would have seen them."""
    rng = random.Random(seed * 100_003 + rank)
    out, sequence = [], 0
    for event in events:
        copy = dict(event)
        if event.get("ph") == "X" and event.get("cat") in DEVICE_WORK:
            if is_collective(event):
                sequence += 1
                wait = 0.0 if late else LATE_US
                copy["dur"] = round(float(event["dur"]) + wait * (1 + 0.05 * rng.random()), 3)
                copy["args"] = {**event["args"], "Seq": sequence, "Group size": ranks}
            else:
                factor = (1.5 if slow else 1.0) * (1 + 0.02 * rng.gauss(0, 1))
                copy["dur"] = round(max(0.1, float(event["dur"]) * factor), 3)
        out.append(copy)
    return out


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--ranks", type=int, default=1000)
    parser.add_argument("--slow-rank", type=int, default=7)
    parser.add_argument("--late-rank", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--input", default=str(DEFAULT))
    options = parser.parse_args()
    with gzip.open(options.input, "rt", errors="replace") as source:
        trace = json.load(source, strict=False)
    events = trace.pop("traceEvents")
    folder = pathlib.Path(options.folder)
    folder.mkdir(parents=True, exist_ok=True)
    for rank in range(options.ranks):
        info = {**trace.get("distributedInfo", {}), "rank": rank, "world_size": options.ranks}
        document = {**trace, "distributedInfo": info,
                    "traceEvents": one_rank(events, rank, options.ranks, rank == options.slow_rank,
                                            rank == options.late_rank, options.seed)}
        with gzip.open(folder / f"rank{rank:04}.json.gz", "wt", compresslevel=1) as out:
            json.dump(document, out)


if __name__ == "__main__":
    main()
