"""Which of the program's own files a run loaded, and which of their lines ran:
CPython 3.12 and later tell the latter through sys.monitoring, at the cost of one
event for each line, its first.

Files of the standard library and of installed packages are left alone. What a
file could have run is known from its code when it is imported, so that a
function nobody called counts as watched and not run.
"""
import os
import sys
import sysconfig

FOLDER = os.environ.get("STALLSCOPE_OUT", "")


def ranges(lines):
    """1, 2, 3, 7 as "1-3,7"."""
    out = []
    for line in sorted(lines):
        if out and out[-1][1] == line - 1:
            out[-1][1] = line
        else:
            out.append([line, line])
    return ",".join("%d" % a if a == b else "%d-%d" % (a, b) for a, b in out)


class OwnFiles:
    """Tells the program's own files from those of the library and of installed packages."""

    def __init__(self):
        self._library = tuple({os.path.realpath(path) + os.sep for path in (
            *(sysconfig.get_paths().get(name) for name in ("stdlib", "platstdlib", "purelib",
                                                           "platlib")),
            os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) if path})
        self._own = {}

    def path(self, name):
        """The real path of one of the program's own files, otherwise None."""
        if name not in self._own:
            path = os.path.realpath(name) if os.path.isfile(name) else ""
            parts = path.split(os.sep)
            library = not path or path.startswith(self._library) or "site-packages" in parts \
                or "dist-packages" in parts
            self._own[name] = None if library else path
        return self._own[name]


def leave(text):
    """Leaves what is known of this process in FOLDER, for the recorder."""
    name = os.path.join(FOLDER, "%d.lines" % os.getpid())
    with open(name + ".part", "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text)
    os.replace(name + ".part", name)


class Modules:
    """What was loaded, where nobody tells which lines ran."""

    def __init__(self):
        self._begun_in = os.getcwd()  # the main program's path is relative to it before 3.9

    def save(self):
        own, paths = OwnFiles(), set()
        for module in list(sys.modules.values()):
            # The main program has lost its own when it ends.
            name = getattr(module, "__file__", None) or \
                getattr(getattr(module, "__loader__", None), "path", None)
            if isinstance(name, str):
                paths.add(own.path(os.path.join(self._begun_in, name)))
        leave("".join("file %s\n" % path for path in sorted(paths - {None})))


class Lines:
    """Watches for the first run of every line."""

    def __init__(self, monitoring, tool):
        self._monitoring, self._tool = monitoring, tool
        self._own = OwnFiles()
        self._watched, self._hit = {}, {}  # by path
        events = monitoring.events
        monitoring.register_callback(tool, events.PY_START, self._start)
        monitoring.register_callback(tool, events.LINE, self._line)
        monitoring.set_events(tool, events.PY_START)

    def _watch(self, code, path):
        lines = self._watched.setdefault(path, set())
        todo = [code]
        while todo:
            one = todo.pop()
            lines.update(line for _, _, line in one.co_lines() if line)
            todo += [inner for inner in one.co_consts if hasattr(inner, "co_lines")]

    def _start(self, code, offset):
        try:
            path = self._own.path(code.co_filename)
            if path is not None:
                if code.co_name == "<module>" or path not in self._watched:
                    self._watch(code, path)
                self._monitoring.set_local_events(self._tool, code, self._monitoring.events.LINE)
        except Exception:  # the program comes first
            pass
        return self._monitoring.DISABLE

    def _line(self, code, line):
        path = self._own.path(code.co_filename)
        if path is not None:
            self._hit.setdefault(path, set()).add(line)
        return self._monitoring.DISABLE

    def save(self):
        text = ""
        for path, watched in list(self._watched.items()):
            text += "file %s\nwatched %s\nhit %s\n" % (
                path, ranges(set(watched)), ranges(set(self._hit.get(path, ()))))
        leave(text)


def watcher():
    """Of lines, where this interpreter tells them and no other tool is in the way."""
    monitoring = getattr(sys, "monitoring", None)
    free_threaded = not getattr(sys, "_is_gil_enabled", lambda: True)()
    if monitoring is not None and sys.implementation.name == "cpython" and not free_threaded:
        for tool in (4, 3):
            if monitoring.get_tool(tool) is None:
                monitoring.use_tool_id(tool, "stallscope")
                return Lines(monitoring, tool)
    return Modules()


def install():
    if not FOLDER:
        return
    import atexit

    watched = watcher()
    atexit.register(watched.save)
    # A forked worker's lines are not those of the program.
    os.register_at_fork(after_in_child=lambda: atexit.unregister(watched.save))
