"""Collectives that PyTorch starts without Python, as DistributedDataParallel's
reducer calls Gloo: the flight recorder that PyTorch brings keeps the last of
them, with when they were started and what they move. When they ended is told by
an observer of the RecordFunction that each of them holds open.
"""
import ctypes
import json
import os
import pickle
import re

LENGTH = 4096
KEPT = 8192  # works that the library keeps
BYTES = {"Float": 4, "Double": 8, "Half": 2, "BFloat16": 2, "Long": 8, "Int": 4, "Short": 2,
         "Char": 1, "Byte": 1, "Bool": 1, "ComplexFloat": 8, "ComplexDouble": 16}


def install():
    """Before the first process group: its size is read once. A size of the user's own stands."""
    if "TORCH_NCCL_TRACE_BUFFER_SIZE" not in os.environ:
        os.environ.setdefault("TORCH_FR_BUFFER_SIZE", str(LENGTH))


class Work(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char * 48), ("begin_ns", ctypes.c_int64), ("end_ns", ctypes.c_int64)]


def user_scope(header):
    """The number of USER_SCOPE, where the header that PyTorch brings lays observers out as is known; else -1."""
    layout = (r"StartCallback start_;\s*EndCallback end_;\s*double sampling_prob_ = 1\.0;\s*"
              r"std::array<bool, static_cast<size_t>\(RecordScope::NUM_SCOPES\)> scopes_ = \{\};\s*bool ")
    scopes = re.search(r"enum class C10_API_ENUM RecordScope : uint8_t \{(.*?)\};", header, re.DOTALL)
    if scopes is None or not re.search(layout, header):
        return -1
    names = re.findall(r"^ *([A-Z_]+)(?: = 0)?,", scopes[1], re.MULTILINE)
    return names.index("USER_SCOPE") if "USER_SCOPE" in names else -1


def watch_ends(library):
    """Whether the ends of collectives are observed from here on."""
    import torch

    path = os.path.join(os.path.dirname(torch.__file__), "include", "ATen", "record_function.h")
    with open(path, encoding="utf-8") as file:
        return library.stallscope_python_watch_works(user_scope(file.read())) == 1


def observed(library):
    """The works that were observed, oldest first, by name."""
    works = (Work * KEPT)()
    known = {}
    for work in works[:library.stallscope_python_works(works, len(works))]:
        known.setdefault(work.name.decode(), []).append(work)
    return known


def ends_of(entries, works):
    """When each of `entries` ended; None where that is not known. Recorder and observer see every collective, in the
    same order, a moment apart; what they keep is laid together from the last one back."""
    counts = {}
    for entry in entries:
        counts[entry["profiling_name"]] = counts.get(entry["profiling_name"], 0) + 1
    # None of them has forgotten any, and yet they differ: they do not tell of the same things here.
    whole = len(entries) < LENGTH and sum(map(len, works.values())) < KEPT
    left = {name: list(works.get(name, ())) for name, count in counts.items()
            if not whole or len(works.get(name, ())) == count}
    ends = []
    for entry in reversed(entries):
        same = left.get(entry["profiling_name"])
        ends.append(same.pop().end_ns or None if same else None)
    return ends[::-1]


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


def event(entry, dump, end):
    name, description = entry["process_group"]
    known = {"bytes": moved(entry), "sequence": entry.get("collective_seq_id"),
             "worldSize": ranks_of(dump, name)}
    if end is not None:
        known["durationNs"] = max(end - entry["time_created_ns"], 1)
    return {"kind": "collective", "name": entry["profiling_name"], "startNs": entry["time_created_ns"],
            "pid": os.getpid(), "tid": os.getpid(),
            "detail": entry["profiling_name"].partition(":")[2].replace("_", "-"),
            "group": description or name, "async": 1,
            "stack": [{"function": frame["name"], "file": frame["filename"], "line": frame["line"],
                       "kind": "python"} for frame in entry.get("frames", ())],
            **{key: value for key, value in known.items() if value is not None}}


def save(folder, library):
    """Leaves what the recorder kept of Gloo in `folder`; NCCL tells its own profiler."""
    from torch._C import _distributed_c10d as c10d

    dump = pickle.loads(c10d._dump_fr_trace(True, True, False))
    entries = [entry for entry in dump.get("entries", ()) if entry.get("profiling_name", "").startswith("gloo:")]
    lines = [json.dumps(event(entry, dump, end)) for entry, end in zip(entries, ends_of(entries, observed(library)))]
    if not lines:
        return
    path = os.path.join(folder, "%d.1.collectives" % os.getpid())
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write("\n".join(lines) + "\n")
