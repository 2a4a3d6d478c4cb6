"""Fails on an include that runs against the arrows of the architecture.

Each folder of src may include itself, what it names here, and what those name.
"""
import pathlib
import re
import sys

DIRECT = {
    "base": [],
    "trace": ["base"],
    "collect": ["trace"],
    "record": ["trace"],
    "import": ["trace"],
    "analyze": ["trace"],
    "replay": ["analyze"],
    "source": ["base"],
    "rule": ["analyze", "replay", "source"],
    "report": ["rule"],
    "comm": ["base"],
    "trainer": ["comm"],
    "cli": ["base", "trace", "record", "import", "analyze", "replay", "source", "rule", "report"],
}
# Inside src/source: each folder may include those before it, and what lies beside them all the rest.
SOURCE_ORDER = ["syntax", "facts", "names", "values", "guards", "match", "extract", "link", "clang"]
# The trainer announces its work through the collector's public header, and only that.
EXTRA_FILES = {
    ("trainer", "collect/annotate.h"),
    ("comm", "collect/annotate.h"),
    # The parent tells the injected library what to do through these names.
    ("record", "collect/settings.h"),
}
# The collector lives in other people's processes: it sees the segment format and the freestanding
# headers about names and layouts, not the Trace.
COLLECT_MAY_SEE = re.compile(r"^(trace/segment\w*\.h|trace/step_names\.h|trace/event\.h|trace/python_\w*\.h|trace/unwind_table\.h|collect/.*)$")


def reachable(folder):
    seen, stack = {folder}, [folder]
    while stack:
        for target in DIRECT[stack.pop()]:
            if target not in seen:
                seen.add(target)
                stack.append(target)
    return seen


def runs_back(folder_of_file, target):
    """Whether a file of src/source in that folder ("." beside the folders) includes what comes later."""
    parts = target.split("/")[1:-1]
    place = {folder: number for number, folder in enumerate([*SOURCE_ORDER, "."])}
    last = len(place)  # a folder that is not part of the order comes after all
    return place.get(parts[0] if parts else ".", last) > place.get(folder_of_file, -1)


def main():
    root = pathlib.Path(sys.argv[1]) / "src"
    wrong, checked = [], 0
    for path in sorted(root.rglob("*")):
        if path.suffix not in {".h", ".hpp", ".cpp", ".cc", ".c", ".cu", ".inc"}:
            continue
        folder = path.relative_to(root).parts[0]
        if folder not in DIRECT:
            wrong.append(f"{path}: folder src/{folder} is not part of the architecture")
            continue
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            match = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
            if not match:
                continue
            checked += 1
            target = match.group(1)
            head = target.split("/")[0]
            if "/" not in target or head not in DIRECT:
                continue
            if (folder, target) in EXTRA_FILES:
                continue
            if folder == "collect" and not COLLECT_MAY_SEE.match(target):
                wrong.append(f"{path}:{number}: the collector may not include {target}")
            elif head not in reachable(folder):
                wrong.append(f"{path}:{number}: src/{folder} may not include {target}")
            elif folder == head == "source" and runs_back(path.parent.relative_to(root / folder).as_posix(), target):
                wrong.append(f"{path}:{number}: {target} comes after this folder ({' < '.join(SOURCE_ORDER)})")
    if checked == 0:
        wrong.append("no includes were checked: is the source folder right?")
    print("\n".join(wrong) or f"{checked} includes follow the arrows")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
