"""Found first on PYTHONPATH in programs that `stallscope run` starts: sets up the
annotations and the line evidence, then makes way for the program's own sitecustomize."""
import os
import sys


def _set_up():
    folder = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != folder]
    for name in ("stallscope_annotate", "stallscope_lines"):
        try:
            import importlib.util

            spec = importlib.util.spec_from_file_location(
                "_" + name, os.path.join(folder, name + ".py"))
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            module.install()
        except Exception:  # the program comes first
            pass


_set_up()
sys.modules.pop("sitecustomize", None)
import sitecustomize  # noqa: E402,F401  the program's own; without one, site ignores this error
