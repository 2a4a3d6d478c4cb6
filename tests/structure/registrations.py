"""Fails when a file that should register a plug-in does not, or when plug-ins get lost in linking.

Commands must show in the linked program's help, rule files must be named after their rules.
"""
import pathlib
import re
import subprocess
import sys

ID_LINE = re.compile(r"^id:\s*(\S+)", re.M)


def main():
    root, tool = pathlib.Path(sys.argv[1]), sys.argv[2]
    wrong = []

    # Commands: every registration shows in the help of the linked program.
    help_text = subprocess.run([tool, "--help"], capture_output=True, text=True, check=True).stdout
    names = set()
    for path in sorted((root / "src/cli").glob("*.cpp")):
        text = path.read_text()
        for match in re.finditer(r"RegisterCommand \w+\(?\{?\{\s*(?:\.name = )?\"([\w-]+)\"", text):
            names.add(match.group(1))
    hidden = {"completions", "man"}
    for name in sorted(names - hidden):
        if not re.search(rf"^\s+{re.escape(name)}\b", help_text, re.M):
            wrong.append(f"command '{name}' registers itself but is not in stallscope --help")
    if not names:
        wrong.append("no command registrations were found: is the pattern right?")

    # Rules: the id is the file's name.
    for path in sorted((root / "rules").glob("*.yaml")):
        match = ID_LINE.search(path.read_text())
        if match and match.group(1) != path.stem:
            wrong.append(f"{path}: id '{match.group(1)}' differs from the file name")

    print("\n".join(wrong) or f"{len(names)} commands are registered and linked")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
