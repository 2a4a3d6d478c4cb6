"""The lines that a program or case marks with `# expect: RULE` (`// expect: RULE`)."""
import re

MARK = re.compile(r"(?:#|//) expect: ([a-z0-9-]+)")


def expected_lines(path):
    """(line, rule) of each mark in the file, in its order; lines count from 1."""
    return [(number, mark[1]) for number, line in enumerate(path.read_text().splitlines(), 1)
            for mark in MARK.finditer(line)]


def expected_line(path):
    """The one mark of a planted stall. Raises ValueError where there is none, or another."""
    marks = expected_lines(path)
    if len(marks) != 1:
        raise ValueError(f"{path} marks {len(marks)} lines with 'expect:' where one is wanted")
    return marks[0]
