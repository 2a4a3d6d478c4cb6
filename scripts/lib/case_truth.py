"""Are the rules right about PyTorch? Runs what their Python cases mark, on a GPU or on the host.

    case_truth.py cuda [RECORD]   each marked line of a rule about waiting must wait for the device, as PyTorch's own
                                  torch.cuda.set_sync_debug_mode tells; what the rule proposes instead must not.
                                  RECORD: a file for what was seen, such as tests/truth/waits.csv
    case_truth.py cpu             which of them end the graph of torch.compile, as torch._dynamo.explain tells, or are
                                  known to wait from tests/truth/waits.csv; those of graph-break and recompile must

A line is run with values of the kinds that fit it. Prints a row for each rule; exits 1 when a line ran in all these ways
and never did what its rule says, or a proposal waited.
"""
import ast
import collections
import contextlib
import csv
import io
import itertools
import logging
import re
import sys
import warnings

import torch

from case_statements import RULES, Statement, marked_statements, snippet_statements

MOST_TRIES = 1500
RECORD = RULES.parent / "tests/truth/waits.csv"
# Calls of synchronize() are the wait itself, and asynchronous copies from pageable memory are none to PyTorch.
NOT_TOLD = {"explicit-sync", "non-blocking-unpinned"}
TENSOR_METHODS = {name for name in dir(torch.Tensor) if not name.startswith("_")}


def rules_about_waiting():
    """Those whose gain is a synchronisation that goes away, with cases of PyTorch."""
    for path in sorted(RULES.glob("*.yaml")):
        rule = path.stem
        if "gain: {model: remove-sync" in path.read_text() and rule not in NOT_TOLD and not rule.startswith("jax-") \
                and any(True for _ in marked_statements(rule)):
            yield rule


def takes_host_memory(rule):
    """Rules about what lies on the host: their lines are also run with such values."""
    return re.search(r"on: (batch|\w*host-data-tensor|host-tensor|kept-host-tensor|read-back-tensor|fresh-tensor)|host-index",
                     (RULES / f"{rule}.yaml").read_text()) is not None


def values(device, host):
    """One function for each kind of value: made anew for each try, since lines change what they are given.

    Every axis holds four, and every index is less: an index out of range would end the GPU's context."""
    on = {"device": device}
    kinds = [
        lambda: torch.tensor(0.5, **on),
        lambda: torch.tensor([0.1, 0.2, 0.3, 0.4], **on),
        lambda: torch.eye(4, **on) + 1,
        lambda: torch.tensor([0, 1, 2, 3], **on),
        lambda: torch.tensor([True, False, True, True], **on),
        lambda: torch.eye(4, **on) > 0,
        lambda: 2,
        lambda: torch.device(device),
        lambda: [torch.tensor(0.5, **on), torch.tensor(0.25, **on)],
        lambda: {"loss": torch.tensor(0.5, **on)},
        lambda: "text",
        lambda: torch.ones(4, 4, 4, **on),
        lambda: torch.ones(4, 4, 4, 4, **on),
        lambda: torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0], [0, 0, 1, 1], [3, 2, 1, 0]], **on),
        lambda: torch.tensor(2, **on),
        lambda: torch.tensor(True, **on),
        lambda: None,
    ]
    if host:
        kinds[:0] = [lambda: torch.ones(4, 4), lambda: [0, 2], lambda: torch.tensor([0, 1, 2, 3]), lambda: torch.ones(4)]
    return kinds


def called(value):
    return lambda *arguments, **keywords: value


def ways(statement, device, host):
    """Values for the holes, by and by; calls of what is not known return any of them."""
    kinds = values(device, host)
    choices = []
    for text, is_called in statement.holes.items():
        named = text.rsplit(".")[-1]
        if named == "device" and not is_called:
            choices.append([lambda: torch.device(device)])
        elif is_called:
            # Made before the line runs: to make a value may wait itself.
            choices.append([lambda kind=kind: called(kind()) for kind in kinds])
        else:
            choices.append(kinds)
    # Simple values first in every hole, not in the last alone.
    order = sorted(itertools.product(*(range(len(each)) for each in choices)), key=sum) if len(choices) < 4 else \
        itertools.product(*(range(min(len(each), 9)) for each in choices))
    for picked in itertools.islice(order, MOST_TRIES):
        yield [choices[hole][at]() for hole, at in enumerate(picked)]


@contextlib.contextmanager
def quiet():
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def waits(statement, given):
    """True when it waits for the device, False when it runs without; None when it does not run."""
    torch.cuda.set_sync_debug_mode("error")
    try:
        with quiet():
            statement.probe(*given)
        return False
    except RuntimeError as error:
        return True if "synchronizing CUDA operation" in str(error) else None
    except Exception:
        return None
    finally:
        torch.cuda.set_sync_debug_mode("default")


def breaks(statement, given):
    """True when torch.compile ends its graph there, False when not; None when it does not run."""
    with quiet():
        try:
            statement.probe(*given)
        except Exception:
            return None
        torch._dynamo.reset()
        try:
            told = torch._dynamo.explain(statement.compiled)(*given)
        except Exception:
            return None
    return told.graph_break_count > 0 or bool(told.break_reasons)


def verdict(statement, device, host, shows, most_runs):
    """True when some way shows it, False when all that ran did not, None when none ran."""
    found, runs = None, 0
    for given in ways(statement, device, host):
        shown = shows(statement, given)
        if shown:
            return True
        if shown is False:
            found, runs = False, runs + 1
            if runs >= most_runs:
                break
    return found


def recompiles(statement, given):
    """True when a function is compiled again for each of three sizes once the statement was run on its input."""
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    double = torch.compile(lambda x: x * 2, backend="eager")
    for size in (4, 5, 6):
        x = torch.ones(size, size)
        with quiet():
            statement.probe(*[x for _ in given])
        double(x)
    return torch._dynamo.utils.counters["stats"]["unique_graphs"] == 3


def proposal_waits(rule, device):
    """True when what the rule proposes instead runs, and waits each time."""
    imports = ast.parse("import torch\nimport torch.nn.functional as F").body
    for node in snippet_statements(rule, "after"):
        try:
            proposal = Statement(node, imports, TENSOR_METHODS)
        except (ValueError, SyntaxError):
            continue
        told = [waits(proposal, given) for given in itertools.islice(ways(proposal, device, False), 400)]
        if True in told and False not in told:
            return True
    return False


def told_of_lines(rule, device, shows, most_runs):
    """(place, text, verdict) of each marked line: shown, never, not run, or left to what it calls."""
    host = takes_host_memory(rule)
    for path, number, node, imports in marked_statements(rule):
        try:
            statement = Statement(node, imports, TENSOR_METHODS)
        except (ValueError, SyntaxError):
            yield f"{path.name}:{number}", ast.unparse(node), "not run"
            continue
        told = verdict(statement, device, host, shows, most_runs)
        calls_unknown = any(statement.holes.values())
        yield f"{path.name}:{number}", ast.unparse(node).splitlines()[0], \
            "shown" if told else "not run" if told is None else "left to its callee" if calls_unknown else "never"


def recorded_waits():
    """(rule, text) of lines that were seen to wait on a GPU."""
    if not RECORD.exists():
        return {}
    rows = csv.DictReader(line for line in RECORD.read_text().splitlines() if not line.startswith("#"))
    return {(row["rule"], row["line"]): row["verdict"] for row in rows}


def rows_of(device):
    """(rule, what its lines must do, its lines) in the order in which they are printed."""
    if device == "cuda":
        for rule in rules_about_waiting():
            yield rule, "wait", told_of_lines(rule, device, waits, MOST_TRIES)
        return
    for rule, shows in (("graph-break", breaks), ("recompile", recompiles)):
        yield rule, "break or recompile", told_of_lines(rule, device, shows, 12)
    for rule in rules_about_waiting():
        yield rule, "end the graph", told_of_lines(rule, device, breaks, 12)


def main(device, record):
    logging.disable(logging.ERROR)
    on_gpu, known = device == "cuda", recorded_waits()
    counts, out, wrong = collections.Counter(), [], 0
    for rule, do, lines in rows_of(device):
        places = collections.defaultdict(list)
        for place, text, told in lines:
            if not on_gpu and told != "shown" and known.get((rule, text)) == "shown":
                told = "seen on a GPU"
            places[told].append(place)
            out.append((rule, text, told))
        must = on_gpu or do == "break or recompile"
        wrong += len(places["never"]) if must else 0
        notes = [f"{len(found)} {told}" + ("" if told == "seen on a GPU" else ": " + " ".join(found))
                 for told, found in sorted(places.items()) if told != "shown" and found]
        if on_gpu and proposal_waits(rule, device):
            wrong += 1
            notes.append("what it PROPOSES waits")
        print(f"{rule:26} {len(places['shown']):3} {do}" + "".join("; " + note for note in notes), flush=True)
        for told, found in places.items():
            counts[told] += len(found)
    if record:
        with open(record, "w", newline="") as file:
            file.write(f"# Written by scripts/lib/case_truth.py cuda: {torch.cuda.get_device_name()}, "
                       f"PyTorch {torch.__version__}\n")
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["rule", "line", "verdict"])
            writer.writerows(dict.fromkeys(out))
    print(f"{counts.total()} lines: " + ", ".join(f"{count} {told}" for told, count in counts.most_common())
          + f"; {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3) or sys.argv[1] not in ("cuda", "cpu"):
        sys.exit(__doc__.strip())
    sys.exit(main(sys.argv[1], sys.argv[2] if len(sys.argv) == 3 else None))
