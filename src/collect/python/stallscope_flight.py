"""Collectives that PyTorch starts without Python, as DistributedDataParallel's
reducer calls Gloo: the flight recorder that PyTorch brings keeps the last of
them, with when they were started and what they move, not when they ended.
"""
import json
import os
import pickle

LENGTH = 4096
BYTES = {"Float": 4, "Double": 8, "Half": 2, "BFloat16": 2, "Long": 8, "Int": 4, "Short": 2,
         "Char": 1, "Byte": 1, "Bool": 1, "ComplexFloat": 8, "ComplexDouble": 16}


def install():
    """Before the first process group: its size is read once. A size of the user's own stands."""
    if "TORCH_NCCL_TRACE_BUFFER_SIZE" not in os.environ:
        os.environ.setdefault("TORCH_FR_BUFFER_SIZE", str(LENGTH))


def moved(entry):
    """Bytes that it takes; None for a type without a known size."""
    total = 0
    for sizes, kind in zip(entry.get("input_sizes", ()), entry.get("input_dtypes", ())):
        if kind not in BYTES:
            return None
        count = BYTES[kind]
        for size in sizes:
            count *= size
        total += count
    return total


def ranks_of(dump, name):
    """How many ranks a group has; None when it is not told."""
    groups = dump.get("pg_config", {})
    group = groups.get(name) or groups.get("") or {}
    try:
        return len(json.loads(group["ranks"]))
    except (KeyError, ValueError):
        return None


def event(entry, dump):
    name, description = entry["process_group"]
    known = {"bytes": moved(entry), "sequence": entry.get("collective_seq_id"),
             "worldSize": ranks_of(dump, name)}
    return {"kind": "collective", "name": entry["profiling_name"], "startNs": entry["time_created_ns"],
            "pid": os.getpid(), "tid": os.getpid(),
            "detail": entry["profiling_name"].partition(":")[2].replace("_", "-"),
            "group": description or name, "async": 1,
            "stack": [{"function": frame["name"], "file": frame["filename"], "line": frame["line"],
                       "kind": "python"} for frame in entry.get("frames", ())],
            **{key: value for key, value in known.items() if value is not None}}


def save(folder):
    """Leaves what the recorder kept of Gloo in `folder`; NCCL tells its own profiler."""
    from torch._C import _distributed_c10d as c10d

    dump = pickle.loads(c10d._dump_fr_trace(True, True, False))
    lines = [json.dumps(event(entry, dump)) for entry in dump.get("entries", ())
             if entry.get("profiling_name", "").startswith("gloo:")]
    if not lines:
        return
    path = os.path.join(folder, "%d.1.collectives" % os.getpid())
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write("\n".join(lines) + "\n")
