"""Which of the program's own files a run loaded, and which of their lines ran:
CPython 3.12 and later tell the latter through sys.monitoring, at the cost of one
event for each line, its first.

Files of the standard library and of installed packages are left alone. What a
file could have run is known from its code when it is imported, so that a
function nobody called counts as watched and not run. What is seen is written as
it comes: workers are killed, end by os._exit() or become another program.
"""
import os
import sys

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
        # As sysconfig has them, which takes as long to import as an interpreter to start, and threading with it.
        version = "python%d.%d" % sys.version_info[:2]
        self._library = tuple({os.path.realpath(path) + os.sep for path in (
            os.path.dirname(os.__file__),
            os.path.join(sys.base_exec_prefix, getattr(sys, "platlibdir", "lib"), version),
            os.path.dirname(os.path.dirname(os.path.abspath(__file__))))})
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


def far(file):
    """The same open file under a number that the program's own files do not come to: they have those that they would
    have without us."""
    try:
        import fcntl

        moved = fcntl.fcntl(file, fcntl.F_DUPFD_CLOEXEC, 250)
    except (ImportError, OSError):  # beyond the limit of open files
        return file
    os.close(file)
    return moved


class Record:
    """What is known of this process, in a file of its own in FOLDER. It is empty where that could
    not be kept, so that nobody takes a part for the whole."""

    def __init__(self):
        self._open()

    def _open(self):
        self.pid, self._identity, number = os.getpid(), None, 0
        while True:  # the process may have been another program before, or have subinterpreters
            name = "%d-%d.lines" % (self.pid, number) if number else "%d.lines" % self.pid
            self._path = os.path.join(FOLDER, name)
            try:
                self._file = far(os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL, 0o600))
                break
            except FileExistsError:
                number += 1
            except OSError:  # the recorder is gone, or there is no room
                return
        self._identity = self._same()

    def _same(self):
        try:
            status = os.fstat(self._file)
            return status.st_dev, status.st_ino
        except OSError:
            return None

    def close(self):
        if self._identity is not None and self._same() == self._identity:
            os.close(self._file)
        self._identity = None

    def write(self, text):
        """Adds whole lines. The program may have closed all files that it knows nothing of, and
        given their numbers to its own."""
        if self._identity is None:
            return
        try:
            if self._same() != self._identity:
                self._file = far(os.open(self._path, os.O_WRONLY | os.O_APPEND))
                self._identity = self._same()
            data = text.encode("utf-8", "surrogateescape")
            if os.write(self._file, data) != len(data):
                raise OSError("no room")
        except OSError:
            self._identity = None
            try:
                os.truncate(self._path, 0)
            except OSError:
                pass


class Modules:
    """What was loaded, where nobody tells which lines ran."""

    def __init__(self):
        self._begun_in = os.getcwd()  # the main program's path is relative to it before 3.9
        self._record = Record()
        self._record.write("modules\n")

    def save(self):
        own, paths = OwnFiles(), set()
        for module in list(sys.modules.values()):
            # The main program has lost its own when it ends.
            name = getattr(module, "__file__", None) or \
                getattr(getattr(module, "__loader__", None), "path", None)
            if isinstance(name, str):
                paths.add(own.path(os.path.join(self._begun_in, name)))
        self._record.write("".join("file 0 %s %s\n" % (state(path), path)
                                   for path in sorted(paths - {None})) + "ended\n")


def state(path):
    """Size and time of a file, by which the recorder knows whether it is still the one that ran."""
    try:
        status = os.stat(path)
        return "%d %d" % (status.st_size, status.st_mtime_ns)
    except OSError:
        return "0 0"


# What compiles functions to something that tells nothing of its lines: a function of each that
# runs before anything compiled does, and the end of its file's path.
COMPILERS = {
    "_compile": "torch/_dynamo/convert_frame.py",
    "get_jit_def": "torch/jit/frontend.py",
    "_compile_for_args": "numba/core/dispatcher.py",
}


def lines_to_run(code, resume):
    """The lines of which each is told once it runs: those behind the instruction `resume`, which begins a call."""
    begin = 2 * code.co_code[::2].index(resume)
    return {line for _, end, line in code.co_lines() if line and end > begin + 2}


class Lines:
    """Watches for the first run of every line."""

    def __init__(self, monitoring, tool):
        self._resume = (lambda: None).__code__.co_code[0]  # a module that names it takes longer than all of this
        self._monitoring, self._tool = monitoring, tool
        self._own = OwnFiles()
        self._codes = {}  # by path: what its file holds
        self._left = {}  # by code: lines that have not run
        self._record = None
        self._begin()
        events = monitoring.events
        monitoring.register_callback(tool, events.PY_START, self._start)
        monitoring.register_callback(tool, events.LINE, self._line)
        monitoring.set_events(tool, events.PY_START)

    def _begin(self):
        if self._record is not None:
            self._record.close()
        self._record, self._files, self._declared = Record(), {}, 0
        self._record.write("lines\n")

    def _number(self, path):
        """By which the record calls a file."""
        if self._record.pid != os.getpid():  # forked; by C code, if begin_in_child() was not called
            self._begin()
        if path not in self._files:
            self._declared += 1
            self._files[path] = self._declared
            self._record.write("file %d %s %s\n" % (self._files[path], state(path), path))
        return self._files[path]

    def _watch(self, code, path):
        self._files.pop(path, None)  # its text may have changed since it was loaded before
        lines, codes, todo = set(), self._codes.setdefault(path, set()), [code]
        while todo:
            one = todo.pop()
            codes.add(one)
            lines.update(line for _, _, line in one.co_lines() if line)
            todo += [inner for inner in one.co_consts if hasattr(inner, "co_lines")]
        self._record.write("watched %d %s\n" % (self._number(path), ranges(lines)))

    def _start(self, code, offset):
        try:
            path = self._own.path(code.co_filename)
            if path is not None:
                if code.co_name == "<module>" or path not in self._codes:
                    self._watch(code, path)
                if code in self._codes[path]:  # not what a compiler made of it
                    self._record.write("started %d %s\n" % (
                        self._number(path), ranges({line for _, _, line in code.co_lines() if line})))
                self._left[code] = lines_to_run(code, self._resume)
                self._monitoring.set_local_events(self._tool, code, self._monitoring.events.LINE)
            elif code.co_filename.endswith(COMPILERS.get(code.co_name, "\n")):
                self._record.write("compiled\n")
        except Exception:  # the program comes first
            pass
        return self._monitoring.DISABLE

    def _line(self, code, line):
        try:
            path = self._own.path(code.co_filename)
            if path is not None:
                self._record.write("hit %d %d\n" % (self._number(path), line))
                return self._after(code, line)
        except Exception:
            pass
        return self._monitoring.DISABLE

    def _after(self, code, line):
        """Where a line goes on behind a jump, as loops and conditions of one line do, no event tells of it, so that
        the interpreter is asked to look there for good: until all lines have run, and nothing is left to be told."""
        left = self._left.get(code)
        if left is not None:
            left.discard(line)
            if not left:
                del self._left[code]
                self._monitoring.set_local_events(self._tool, code, 0)
                return None
        return self._monitoring.DISABLE

    def begin_in_child(self):
        """A forked worker's lines are the program's too; those that ran before are in its parent's
        record, and do not show again."""
        self._begin()


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
    watched = watcher()
    if isinstance(watched, Lines):
        os.register_at_fork(after_in_child=watched.begin_in_child)
        return
    import atexit

    atexit.register(watched.save)
    # A forked worker's modules are those of its parent, and it ends without a word.
    os.register_at_fork(after_in_child=lambda: atexit.unregister(watched.save))
