"""Repeats a real Kineto trace, later each time, until it has enough events.

usage: repeat_trace.py OUTPUT [--events N] [--input TRACE.json.gz]

Correlation ids are moved along with the times, so that every copy stands for
itself. The input is read whole and becomes one text with gaps for its times and
ids; the output is written copy by copy.
"""
import argparse
import gzip
import json
from decimal import Decimal

from real_traces import real_trace

TIME, ID = "\x01time\x01", "\x01id\x01"


def nanoseconds(microseconds):
    return int(Decimal(str(microseconds)) * 1000)


class Template:
    """The text of all events, and what fills its gaps in the first copy."""

    def __init__(self, events):
        self.values, self.is_time, pieces = [], [], []
        for event in events:
            copy, own = dict(event), []
            # Gaps are noted in the order in which the members are written.
            for key, value in copy.items():
                if key == "ts":
                    own.append((nanoseconds(value), True))
                    copy[key] = TIME
                elif key == "id" and isinstance(value, int):
                    own.append((value, False))
                    copy[key] = ID
                elif key == "args" and isinstance(value, dict) and isinstance(value.get("correlation"), int):
                    own.append((value["correlation"], False))
                    copy[key] = {**value, "correlation": ID}
            self.values += [value for value, _ in own]
            self.is_time += [is_time for _, is_time in own]
            pieces.append(json.dumps(copy))
        text = ",\n".join(pieces).replace("%", "%%")
        self.text = text.replace(json.dumps(TIME), "%d.%03d").replace(json.dumps(ID), "%d")

    def copy(self, time_ns, ids):
        filling = []
        for value, is_time in zip(self.values, self.is_time):
            if is_time:
                filling += divmod(value + time_ns, 1000)
            else:
                filling.append(value + ids)
        return self.text % tuple(filling)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("output")
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--input")
    options = parser.parse_args()
    options.input = options.input or real_trace("timesformer_h100.json.gz")
    opener = gzip.open if options.input.endswith(".gz") else open
    with opener(options.input, "rt", errors="replace") as source:
        trace = json.load(source, strict=False, parse_float=Decimal)
    events = json.loads(json.dumps(trace.pop("traceEvents"), default=str))
    timed = [e for e in events if "ts" in e and e.get("ph") != "M"]
    first = min(nanoseconds(e["ts"]) for e in timed)
    length = max(nanoseconds(e["ts"]) + nanoseconds(e.get("dur", 0)) for e in timed) - first + 10_000
    ids = max((e["args"]["correlation"] for e in events
               if isinstance(e.get("args"), dict) and isinstance(e["args"].get("correlation"), int)), default=0) + 1
    for event in events:  # decimals became texts
        if isinstance(event.get("dur"), str):
            event["dur"] = float(event["dur"])
    template = Template(events)
    copies = -(-options.events // len(events))
    with open(options.output, "w") as out:
        head = json.dumps({key: value for key, value in trace.items() if key != "metadata"}, default=float)
        out.write(head[:-1] + (", " if trace else "") + '"traceEvents": [\n')
        for copy in range(copies):
            out.write((",\n" if copy else "") + template.copy(copy * length, copy * ids))
        out.write("\n]}\n")
    print(f"{options.output}: {copies * len(events)} events, {copies} copies")


if __name__ == "__main__":
    main()
