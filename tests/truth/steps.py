"""How much of public training code lint takes for a step or a forward pass.

usage: steps.py STALLSCOPE CLONES

At the head of each clone, in a copy, a wait for the device is put in front of every statement that
goes backward (of Python, C++ and CUDA) and in front of the last return of every forward() of a
Python class; tests and benchmarks aside. Lint is to name each of them. Prints how many it does, and
the places where it does not: many are what nothing calls, some are steps that lint takes for none.
"""
import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

from truth import checkout, git_folder, lint_report, percent

PYTHON, COMPILED = (".py",), (".cpp", ".cc", ".cu")
ASIDE = re.compile(r"(^|/)(tests?|testing|benchmarks?|unittests?)(/|_)|test_|_test\.|/bench|conftest")
BACKWARD = re.compile(r"^(\s+)[\w.\[\]\"'{}()]*\.backward\(")
COMPILED_BACKWARD = re.compile(r"^(\s+)(?:[\w.\[\]]|->)*(?i:backward|backprop\w*|back_prop\w*)\([^;{}]*\);\s*$")
METHOD = re.compile(r"^(\s*)def (\w+)\(self")
RETURN = re.compile(r"^(\s+)return ")
CONTINUED = ("(", ",", "\\")  # what a line that goes on ends in
MOST_FILES = 60  # of a project with more the changed files would be most of it


class Probes:
    """Waits put into one file: its new lines, and (kind, new line, old line) of each."""

    def __init__(self):
        self.lines, self.places = [], []

    def put(self, kind, indent, wait, old):
        self.lines.append(indent + wait)
        self.places.append((kind, len(self.lines), old))


def probe_python(lines):
    out, forward = Probes(), None
    for number, line in enumerate(lines, 1):
        method, backward, last = METHOD.match(line), BACKWARD.match(line), RETURN.match(line)
        goes_on = bool(out.lines) and out.lines[-1].rstrip().endswith(CONTINUED)
        if method:
            forward = len(method[1]) + 4 if method[2] == "forward" else None
        if backward and not goes_on:
            out.put("backward", backward[1], "torch.cuda.synchronize()", number)
        elif last and len(last[1]) == forward:
            out.put("forward", last[1], "torch.cuda.synchronize()", number)
            forward = None
        out.lines.append(line)
    return out


def probe_compiled(lines):
    out = Probes()
    for number, line in enumerate(lines, 1):
        backward = COMPILED_BACKWARD.match(line)
        before = out.lines[-1].rstrip() if out.lines else ""
        if backward and not before.endswith(CONTINUED + (")", "else")):
            out.put("backward of C++", backward[1], "cudaDeviceSynchronize();", number)
        out.lines.append(line)
    return out


def probe(tool, clone):
    """(kind, place, severity or None) of each wait put into the head of a clone."""
    with tempfile.TemporaryDirectory() as folder:
        if not checkout(clone, "HEAD", folder):
            return []
        put = {}
        for path in sorted(pathlib.Path(folder).rglob("*")):
            name = str(path.relative_to(folder))
            if path.suffix not in PYTHON + COMPILED or not path.is_file() or ASIDE.search(name):
                continue
            text = path.read_text(encoding="utf-8", errors="replace")
            probes = (probe_python if path.suffix in PYTHON else probe_compiled)(text.split("\n"))
            if probes.places:
                path.write_text("\n".join(probes.lines), encoding="utf-8")
                put[name] = probes.places
        if not put or len(put) > MOST_FILES:
            return []
        found = {(place["file"], place["line"]): finding["severity"]
                 for finding in lint_report(tool, folder)["findings"] if finding["ruleId"] == "explicit-sync"
                 for place in finding["locations"]}
        return [(kind, f"{name}:{old}", found.get((name, line)))
                for name, places in put.items() for kind, line, old in places]


def main():
    tool, clones = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
    found = (git_folder(clones, each.name) for each in sorted(clones.iterdir()))
    folders = [folder for folder in found if folder is not None]
    counts = collections.defaultdict(collections.Counter)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for folder, places in zip(folders, pool.map(lambda clone: probe(tool, clone), folders)):
            for kind, place, severity in places:
                counts[kind]["low" if severity in ("low", "info") else "named" if severity else "silent"] += 1
                if not severity:
                    print(f"silent: {folder.relative_to(clones)} {place} ({kind})")
    print(f"{'in front of':16} {'places':>7} {'named':>7} {'':>6} {'of these low':>13}")
    for kind, found in sorted(counts.items()):
        named, places = found["named"] + found["low"], sum(found.values())
        print(f"{kind:16} {places:7} {named:7} {percent(named, places):>6} {found['low']:13}")


if __name__ == "__main__":
    main()
