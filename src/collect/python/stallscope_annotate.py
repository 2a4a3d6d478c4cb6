"""Marks what a training program does: backward, optimizer steps, waits for data,
checkpoints, collectives, compilation, jitted calls, garbage collection.

When a library named in WATCHED has been imported, its entry points are marked:
through its public hooks where it has them, else by a builtin function in place
of the library's own. Nothing is patched that torch.compile traces, no module
has hooks, and no Python code of this file runs inside a step except the two
optimizer hooks. Whatever is missing or unusual is left alone and listed.
"""
import os
import sys

FOLDER = os.environ.get("STALLSCOPE_OUT", "")
LIBRARY = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                       "libstallscope-python.so")

# Methods of process groups, by enum stallscope_collective_op.
COLLECTIVES = {
    "allreduce": 1, "allreduce_coalesced": 1, "reduce_scatter": 2, "reduce_scatter_single": 2,
    "_reduce_scatter_base": 2, "reduce_scatter_tensor_coalesced": 2, "allgather": 3,
    "allgather_coalesced": 3, "all_gather_single": 3, "_allgather_base": 3,
    "allgather_into_tensor_coalesced": 3, "broadcast": 4, "reduce": 5, "alltoall": 6,
    "alltoall_base": 6, "gather": 7, "scatter": 8, "barrier": 9, "monitored_barrier": 9,
    "send": 10, "recv": 11, "recv_anysource": 11,
}
WAIT = 13


class Marker:
    """Makes the builtins, and keeps the list of what was marked."""

    def __init__(self):
        import ctypes

        library = ctypes.PyDLL(LIBRARY)
        if not library.stallscope_python_ready():
            raise RuntimeError("nobody listens")
        self.library = library
        self._builtin = library.stallscope_python_builtin
        self._builtin.restype = ctypes.py_object
        self._builtin.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_char_p]
        self._tree = library.stallscope_python_tree
        self._tree.restype = ctypes.py_object
        self._tree.argtypes = [ctypes.py_object, ctypes.c_char_p, ctypes.py_object, ctypes.c_int]
        self._method = library.stallscope_python_method
        self._method.restype, self._method.argtypes = ctypes.py_object, [ctypes.py_object]
        self._collective = library.stallscope_python_collective
        self._collective.restype = ctypes.py_object
        self._collective.argtypes = [ctypes.py_object, ctypes.c_char_p, ctypes.c_int]
        self._announcements = library.stallscope_python_announcements
        self._announcements.restype = ctypes.c_uint64
        self._own_ns = library.stallscope_python_own_ns
        self._own_ns.restype = ctypes.c_uint64
        self.marked, self.left_out, self.profiles = [], [], []
        self.rank = None  # and the number of ranks

    def announcer(self, shape, name):
        """A builtin that begins or ends a range."""
        return self._made(self._builtin(shape.encode(), None, name.encode()))

    def caller(self, shape, function, name):
        """A builtin that calls `function` in a range or a wait."""
        return self._made(self._builtin(shape.encode(), id(function), name.encode()))

    @staticmethod
    def _made(builtin):
        if builtin is None:
            raise RuntimeError("the library knows no such mark")
        return builtin

    def function(self, holder, attribute, name, shape="range"):
        """Marks the calls of a function that lies in a module."""
        original = getattr(holder, attribute, None)
        if not callable(original):
            self.left_out.append(name)
            return
        setattr(holder, attribute, self.caller(shape, original, name))
        self.marked.append(name)

    def named_function(self, holder, attribute, label, name):
        """Marks the calls of a function; `label` is "PREFIX ATTRIBUTE-OF-THE-FIRST-ARGUMENT"."""
        original = getattr(holder, attribute, None)
        if not callable(original):
            self.left_out.append(name)
            return
        setattr(holder, attribute, self.caller("named", original, label))
        self.marked.append(name)

    def as_method(self, builtin):
        """The builtin, called with the object first when found in a class."""
        return self._method(builtin)

    def method(self, holder, attribute, name, shape="range"):
        """Marks the calls of a method that a class itself defines."""
        original = getattr(holder, "__dict__", {}).get(attribute)
        if not callable(original):
            self.left_out.append(name)
            return
        setattr(holder, attribute, self._method(self.caller(shape, original, name)))
        self.marked.append(name)

    def collective(self, holder, attribute, name, operation):
        """Marks the calls of a method of a process group or a work handle."""
        original = getattr(holder, attribute, None)
        if callable(original):
            setattr(holder, attribute,
                    self._method(self._made(self._collective(original, name.encode(), operation))))
            self.marked.append(name)

    def tree(self, holder, attribute, name, structure, tree_at):
        """Marks the calls of a function over trees, and now and then their number of leaves."""
        original = getattr(holder, attribute, None)
        if callable(original):
            setattr(holder, attribute,
                    self._made(self._tree(original, name.encode(), structure, tree_at)))
            self.marked.append(name)

    def export(self, holder):
        """Remembers where a profiler of the program's own leaves its traces."""
        import functools

        original = getattr(holder, "__dict__", {}).get("export_chrome_trace")
        if not callable(original):
            return

        @functools.wraps(original)
        def export_chrome_trace(profile, path, *args, **kwargs):
            result = original(profile, path, *args, **kwargs)
            self.profiles.append(os.path.abspath(os.fspath(path)))
            self.save()
            return result

        holder.export_chrome_trace = export_chrome_trace

    def joined(self, holder, attribute, rank_of):
        """Remembers the rank that a process has once the function, called once, has returned."""
        import functools

        original = getattr(holder, attribute, None)
        if not callable(original):
            return

        @functools.wraps(original)
        def join(*args, **kwargs):
            result = original(*args, **kwargs)
            try:
                self.rank = rank_of()
                self.save()
            except Exception:  # the program comes first
                pass
            return result

        setattr(holder, attribute, join)

    def save(self):
        """Tells the recorder what was marked, and how often it was called."""
        lines = ["announcements %d" % self._announcements(), "own-ns %d" % self._own_ns()]
        lines += ["rank %d %d" % self.rank] if self.rank else []
        lines += ["marked " + name for name in self.marked]
        lines += ["left-out " + name for name in self.left_out]
        lines += ["profile " + path for path in self.profiles if "\n" not in path]
        lines += ["setting %s %s" % setting for setting in settings()]
        path = os.path.join(FOLDER, "%d.annotated" % os.getpid())
        with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write("\n".join(lines) + "\n")


def settings():
    """What libraries are set to, as the program left them: entries of run.json's environment."""
    cudnn = sys.modules.get("torch.backends.cudnn")
    try:
        return [] if cudnn is None else [("torch.cudnn_benchmark", int(bool(cudnn.benchmark)))]
    except Exception:  # a build without it
        return []


def mark_optimizers(mark, module):
    is_compiling = sys.modules["torch"].compiler.is_compiling
    end = mark.announcer("end", "optimizer.step")
    begins = {}  # by optimizer: two that take turns are told apart

    def begin_of(optimizer):
        number = len(begins) + 1
        name = "optimizer.step" if number == 1 else "optimizer.step %d" % number
        return begins.setdefault(id(optimizer), mark.announcer("begin", name))

    # Traced when a step is compiled, and then empty: nothing is added to its graph.
    def before_step(optimizer, args, kwargs):
        if not is_compiling():
            (begins.get(id(optimizer)) or begin_of(optimizer))()

    def after_step(optimizer, args, kwargs):
        if not is_compiling():
            end()

    module.register_optimizer_step_pre_hook(before_step)
    module.register_optimizer_step_post_hook(after_step)
    mark.marked.append("optimizer.step")


def mark_ends(mark):
    """Ends that no exit handler sees: what the GPU did last is asked for before."""
    for name in ("_exit", "execv", "execve"):
        mark.function(os, name, "os." + name, "flush")


def mark_torch(mark, module):
    mark_optimizers(mark, sys.modules["torch.optim.optimizer"])
    mark.function(module.autograd, "_engine_run_backward", "backward")
    mark.function(module, "save", "torch.save checkpoint")
    mark.function(module, "load", "torch.load checkpoint")


def mark_loader(mark, module):
    # Named as torch's own profiler does.
    for iterator in ("_SingleProcessDataLoaderIter", "_MultiProcessingDataLoaderIter"):
        mark.method(getattr(module, iterator, None), "_next_data",
                    "enumerate(DataLoader)#%s.__next__" % iterator)


def mark_distributed(mark, module):
    groups = module.ProcessGroup
    for attribute, operation in COLLECTIVES.items():
        mark.collective(groups, attribute, "c10d::" + attribute, operation)
    mark.collective(module.Work, "wait", "c10d::wait", WAIT)
    mark.joined(module, "init_process_group", lambda: (module.get_rank(), module.get_world_size()))
    watch_flight_recorder(mark)


def watch_flight_recorder(mark):
    """What C++ starts by itself is told when the program ends."""
    import atexit
    import importlib.util

    spec = importlib.util.spec_from_file_location(
        "_stallscope_flight", os.path.join(os.path.dirname(os.path.abspath(__file__)), "stallscope_flight.py"))
    flight = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(flight)
    flight.install()
    try:
        ends_known = flight.watch_ends(mark.library)
    except OSError:  # a build without headers
        ends_known = False
    (mark.marked if ends_known else mark.left_out).append("ends of Gloo's collectives")

    def save():
        try:
            flight.save(FOLDER, mark.library)
        except Exception as error:  # this version of torch has none, or keeps something else
            mark.left_out.append("collectives from C++ (%s)" % error)
            mark.save()

    atexit.register(save)
    mark.marked.append("torch.distributed flight recorder")


def mark_dynamo(mark, module):
    handler = module.callback_handler
    handler.register_start_callback(mark.announcer("begin", "torchdynamo compile"))
    handler.register_end_callback(mark.announcer("end", "torchdynamo compile"))
    mark.marked.append("torchdynamo compile")


class Jitted:
    """A jitted function whose calls are marked; everything else is the function's own."""

    __slots__ = ("__wrapped__", "__weakref__")
    lower = property(lambda self: self.__wrapped__.lower)
    trace = property(lambda self: self.__wrapped__.trace)
    eval_shape = property(lambda self: self.__wrapped__.eval_shape)
    clear_cache = property(lambda self: self.__wrapped__.clear_cache)

    def __init__(self, function):
        self.__wrapped__ = function

    def __getattr__(self, name):
        return getattr(self.__wrapped__, name)

    def __get__(self, instance, owner=None):
        return self if instance is None else type(self.__get__)(self, instance)

    def __repr__(self):
        return repr(self.__wrapped__)

    def __reduce_ex__(self, protocol):
        return self.__wrapped__.__reduce_ex__(protocol)


def mark_profiler(mark, module):
    """Kineto must not find CUPTI taken when it starts, or its profiles stay without device work."""
    for name in ("_prepare_profiler", "_enable_profiler"):
        mark.function(module, name, "torch.profiler hand-over", "release")
    mark.function(module, "_disable_profiler", "torch.profiler end", "resume")
    mark.export(getattr(module, "profile", None))


def mark_exports(mark, module):
    mark.export(getattr(module, "_KinetoProfile", None))


def mark_jit(mark, module):
    import functools

    Jitted.__call__ = mark.as_method(mark.announcer("wrapped", "jit __name__"))
    original = module.jit

    @functools.wraps(original)
    def jit(*args, **kwargs):
        result = original(*args, **kwargs)
        if hasattr(result, "lower"):
            return Jitted(result)
        # Called with options only: the function comes next.
        return lambda *functions, **options: Jitted(result(*functions, **options))

    module.jit = jit
    mark.marked.append("jax.jit")


# Functions over trees, and which argument is the tree.
TREE_FUNCTIONS = {"tree_flatten": 0, "tree_map": 1, "tree_leaves": 0, "tree_map_with_path": 1,
                  "tree_flatten_with_path": 0}


def jax_rank():
    # jax.process_index() would start the backend, which the program may yet configure.
    state = sys.modules["jax._src.distributed"].global_state
    return state.process_id, state.num_processes


def mark_jax(mark, module):
    mark_jit(mark, module)
    mark.function(module, "block_until_ready", "jax.block_until_ready", "wait")
    mark.function(module, "device_get", "jax.device_get", "wait")
    mark.joined(module.distributed, "initialize", jax_rank)
    compiler = sys.modules.get("jax._src.compiler")
    mark.function(compiler, "compile_or_get_cached", "xla_compile")
    structure = module.tree_util.tree_structure
    for name, tree_at in TREE_FUNCTIONS.items():
        mark.tree(module.tree_util, name, name, structure, tree_at)
        if hasattr(module, "tree"):
            mark.tree(module.tree, name[len("tree_"):], name, structure, tree_at)


def mark_equinox(mark, module):
    structure = sys.modules["jax"].tree_util.tree_structure
    mark.tree(module, "tree_at", "tree_at", structure, 1)
    mark.tree(module, "partition", "partition", structure, 0)
    mark.tree(module, "combine", "combine", structure, 0)
    mark.named_function(sys.modules.get("equinox._jit"), "_call", "filter_jit fn", "equinox.filter_jit")


WATCHED = {
    "torch": mark_torch,
    "torch.utils.data.dataloader": mark_loader,
    "torch.distributed.distributed_c10d": mark_distributed,
    "torch._dynamo.callback": mark_dynamo,
    "torch.autograd.profiler": mark_profiler,
    "torch.profiler.profiler": mark_exports,
    "jax": mark_jax,
    "equinox": mark_equinox,
}


class Loader:
    """Loads a module as its own loader does, then marks it."""

    def __init__(self, loader, watch):
        self._loader, self._watch = loader, watch

    def __getattr__(self, name):
        return getattr(self._loader, name)

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        module.__spec__.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        self._watch.loaded(module)


class Watch:
    """Finds the modules of WATCHED, each once."""

    def __init__(self):
        self._mark = None
        self._waiting = dict(WATCHED)

    def find_spec(self, name, path=None, target=None):
        if name not in self._waiting:
            return None
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            if find is None and sys.version_info < (3, 12) and finder.find_module(name, path) is not None:
                return None  # found as before 3.4: a loader of that time takes no marks
            spec = None if find is None or finder is self else find(name, path, target)
            if spec is not None:
                if hasattr(spec.loader, "exec_module"):
                    spec.loader = Loader(spec.loader, self)
                return spec
        return None

    def loaded(self, module):
        mark_module = self._waiting.pop(module.__name__, None)
        if mark_module is None:
            return
        try:
            if self._mark is None:
                self._mark = self._begin()
            mark_module(self._mark, module)
        except Exception as error:  # the program comes first
            if self._mark is not None:
                self._mark.left_out.append("%s (%s)" % (module.__name__, error))
        if self._mark is not None:
            self._mark.save()

    @staticmethod
    def _begin():
        import atexit
        import gc

        mark = Marker()
        gc.callbacks.append(mark.announcer("collection", "gc"))
        mark.marked.append("gc")
        mark_ends(mark)
        atexit.register(mark.save)
        return mark


def install():
    """Watches for imports, unless something about this interpreter is unusual."""
    free_threaded = not getattr(sys, "_is_gil_enabled", lambda: True)()
    if not FOLDER or sys.implementation.name != "cpython" or free_threaded:
        return
    sys.meta_path.insert(0, Watch())
