"""Fails when a rule lacks cases in a language in which it reads source code.

Three firing and three silent sites are asked for in each such language. A firing site is a function
with marked lines, a silent one a function of a silent file with a body of two lines or more; in
launch scripts and configuration files, which have no functions, they are lines: those marked, and
in silent files those that name a setting of the rule.
"""
import ast
import pathlib
import re
import sys

WANTED = 3
EXTENSIONS = {
    "python": {".py"},
    "cpp": {".cpp", ".cc", ".h", ".hpp"},
    "cuda": {".cu", ".cuh"},
    "config": {".sh", ".yaml", ".yml", ".json"},
}
# A definition of C++ begins a line, may be a method in a class or namespace, and opens its body.
CPP_FUNCTION = re.compile(
    r"^(?P<indent> {0,4})(?!return\b|if\b|for\b|while\b|switch\b|else\b|do\b|catch\b|using\b)"
    r"[\w:<>&*~, ]*[\w>]\([^;{}]*\)[\w :(),{}&*]*\{\n(?P<body>.*?)^(?P=indent)\}",
    re.M | re.S)


def source_clauses(rule):
    """The clauses under `source:` of a rule's YAML, each as text; it may be one, and no list."""
    block = re.search(r"^source:\n(.*?)(?=^\S)", rule, re.M | re.S)
    return (re.split(r"^  - ", block[1], flags=re.M)[1:] or [block[1]]) if block else []


def names(text):
    """The entries of the first `languages: [...]` in `text`, or None."""
    found = re.search(r"^ *languages: \[(.*)\]", text, re.M)
    return {name.strip() for name in found.group(1).split(",")} if found else None


def read_languages(rule):
    """The languages in which a rule looks at source: those of its clauses."""
    own = names(rule) or set()
    out = set()
    for clause in source_clauses(rule):
        # What names no language is for all kinds of code that the rule names.
        out |= names(clause) or own - {"config"}
    return out & own


def setting_words(rule):
    """The last words of the settings that a rule's clauses ask for, written with '_'."""
    words = set()
    for settings in re.findall(r"^ *(?:- )?settings: \{(.*)\}", rule, re.M):
        for key in re.findall(r"([\w$.-]+)\"?:", settings):
            words.add(key.lstrip("$-").rsplit(".", 1)[-1].replace("-", "_").lower())
    return words


def functions(path, text):
    """The first and last lines of the functions of a file with a body of two lines or more."""
    if path.suffix == ".py":
        found = [node for node in ast.walk(ast.parse(text))
                 if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
        return [(node.lineno, node.end_lineno) for node in found
                if node.end_lineno > node.body[0].lineno]
    found = [match for match in CPP_FUNCTION.finditer(text) if match["body"].count("\n") > 1]
    return [tuple(text.count("\n", 0, at) + 1 for at in match.span()) for match in found]


def firing_sites(path, mark):
    """Functions with marked lines; a marked line outside of them counts by itself."""
    text = path.read_text()
    lines = [number for number, line in enumerate(text.splitlines(), 1) if mark.search(line)]
    if path.suffix in EXTENSIONS["config"]:
        return len(lines)
    spans = functions(path, text)
    return len({max((span for span in spans if span[0] <= line <= span[1]), default=line)
                for line in lines})


def silent_sites(path, words):
    text = path.read_text()
    if path.suffix in EXTENSIONS["config"]:
        plain = text.replace("-", "_").lower()
        return sum(any(word in line for word in words) for line in plain.splitlines())
    return len(functions(path, text))


def main():
    root = pathlib.Path(sys.argv[1]) / "rules"
    wrong, counted = [], 0
    for path in sorted(root.glob("*.yaml")):
        rule = path.read_text()
        files = sorted((root / "cases" / path.stem).glob("*"))
        mark = re.compile(rf"expect(?: with(?:out)? types)?: {re.escape(path.stem)}(?![\w-])")
        for language in sorted(read_languages(rule)):
            here = [file for file in files if file.suffix in EXTENSIONS[language]]
            fires = sum(firing_sites(file, mark) for file in here
                        if file.name.startswith("fires"))
            silent = sum(silent_sites(file, setting_words(rule)) for file in here
                         if file.name.startswith("silent"))
            counted += 1
            if min(fires, silent) < WANTED:
                wrong.append(f"{path.stem}: {fires} firing and {silent} silent sites in {language}: "
                             f"{WANTED} of each are wanted")
    if not counted:
        wrong.append("no rule that reads source was found: is the pattern right?")
    print("\n".join(wrong) or f"{counted} pairs of rule and language have their cases")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
