"""What PyTorch's flight recorder and the observer of works say together, without PyTorch."""
import importlib.util
import types

import pytest

HEADER = """
enum class C10_API_ENUM RecordScope : uint8_t {
  // c10/ATen ops, autograd nodes
  FUNCTION = 0,
  BACKWARD_FUNCTION,
  // User defined scope (e.g. with record_function())
  USER_SCOPE,
  NUM_SCOPES, // must be the last in the list
};
class TORCH_API RecordFunctionCallback {
 private:
  StartCallback start_;
  EndCallback end_;
  double sampling_prob_ = 1.0;
  std::array<bool, static_cast<size_t>(RecordScope::NUM_SCOPES)> scopes_ = {};
  bool needs_inputs_ = false;
};
"""


@pytest.fixture(scope="module")
def flight(source):
    spec = importlib.util.spec_from_file_location("flight", source / "src/collect/python/stallscope_flight.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("change,scope", [
    (("", ""), 2), (("BACKWARD_FUNCTION,", "BACKWARD_FUNCTION,\n  KERNEL_FUNCTION_DTYPE,"), 3),
    (("USER_SCOPE", "OTHER_SCOPE"), -1), (("double sampling_prob_", "void* more_;\n  double sampling_prob_"), -1),
    (("EndCallback end_;", ""), -1), (("enum class C10_API_ENUM RecordScope", "enum class Scope"), -1), ((HEADER, ""), -1),
], ids=["known", "more scopes", "no such scope", "another layout", "one callback", "no scopes", "empty"])
def test_an_observer_is_laid_out_only_as_the_header_says(flight, change, scope):
    assert flight.user_scope(HEADER.replace(*change) if change[0] else HEADER) == scope


def entries(*names):
    return [{"profiling_name": name} for name in names]


def works(**ends):
    return {f"gloo:{name}": [types.SimpleNamespace(end_ns=end) for end in own] for name, own in ends.items()}


@pytest.mark.parametrize("names,observed,ends", [
    (["gloo:a", "gloo:b", "gloo:a"], works(a=[1, 2], b=[3]), [1, 3, 2]),
    (["gloo:a", "gloo:a"], works(a=[1, 0]), [1, None]),  # the second was not over yet
    (["gloo:a", "gloo:b"], works(a=[1, 2], b=[3]), [None, 3]),  # one more than the recorder knows
    (["gloo:a"], {}, [None]),
    ([], works(a=[1]), []),
], ids=["all", "still open", "one too many", "not observed", "not recorded"])
def test_ends_are_told_where_both_tell_of_the_same(flight, names, observed, ends):
    assert flight.ends_of(entries(*names), observed) == ends


def test_what_the_recorder_has_forgotten_is_not_mixed_up(flight):
    # It keeps the last ones only; so does the observer, more of them.
    kept = flight.LENGTH
    observed = {"gloo:a": [types.SimpleNamespace(end_ns=i + 1) for i in range(kept + 100)]}
    assert flight.ends_of(entries(*["gloo:a"] * kept), observed) == list(range(101, kept + 101))
