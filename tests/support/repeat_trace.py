"""Repeats a real Kineto trace, later each time, until it has enough events.

usage: repeat_trace.py OUTPUT [--events N] [--input TRACE.json.gz]

Correlation ids are moved along with the times, so that every copy stands for
itself. The input is read whole; the output is written as it is made.
"""
import argparse
import gzip
import json
import pathlib

HERE = pathlib.Path(__file__).resolve()
DEFAULT = HERE.parents[3] / "shared/data/traces/timesformer_h100.json.gz"


def shifted(event, time_us, correlation):
    copy = dict(event)
    if "ts" in copy:
        copy["ts"] = round(float(copy["ts"]) + time_us, 3)
    if "id" in copy and isinstance(copy["id"], int):
        copy["id"] += correlation
    args = copy.get("args")
    if isinstance(args, dict) and isinstance(args.get("correlation"), int):
        copy["args"] = {**args, "correlation": args["correlation"] + correlation}
    return copy


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("output")
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--input", default=str(DEFAULT))
    options = parser.parse_args()
    opener = gzip.open if options.input.endswith(".gz") else open
    with opener(options.input, "rt", errors="replace") as source:
        trace = json.load(source, strict=False)
    events = trace.pop("traceEvents")
    timed = [e for e in events if "ts" in e and e.get("ph") != "M"]
    first = min(float(e["ts"]) for e in timed)
    length = max(float(e["ts"]) + float(e.get("dur", 0)) for e in timed) - first + 10
    ids = max((e["args"]["correlation"] for e in events
               if isinstance(e.get("args"), dict) and isinstance(e["args"].get("correlation"), int)), default=0) + 1
    written, copy = 0, 0
    with open(options.output, "w") as out:
        head = json.dumps(trace)
        out.write(head[:-1] + (", " if trace else "") + '"traceEvents": [\n')
        while written < options.events:
            for event in events:
                out.write(("" if written == 0 else ",\n") + json.dumps(shifted(event, copy * length, copy * ids)))
                written += 1
            copy += 1
        out.write("\n]}\n")
    print(f"{options.output}: {written} events, {copy} copies")


if __name__ == "__main__":
    main()
