// Functions over pytrees, announced with the number of leaves now and then.
#include <initializer_list>

#include "collect/annotate.h"
#include "collect/python/own_time.h"
#include "collect/python/wrap.h"

namespace stallscope::python {
namespace {

/// Functions over trees call each other: the outermost call is the one that counts.
thread_local int t_depth __attribute__((tls_model("initial-exec"))) = 0;

/// Counting leaves flattens the tree once more: seldom enough not to be felt.
constexpr uint32_t kEvery = 8;

long long leaves_of(const Wrapped& wrapped, PyObject* arguments) {
  const Api& api = *wrapped.api;
  if (api.tuple_size(arguments) <= wrapped.tree_at) return -1;
  PyObject* tuple = api.new_tuple(1, api.tuple_item(arguments, wrapped.tree_at));
  PyObject* treedef = tuple == nullptr ? nullptr : api.call(wrapped.structure, tuple, nullptr);
  PyObject* leaves = treedef == nullptr ? nullptr : api.attribute(treedef, "num_leaves");
  const long long count = leaves == nullptr ? -1 : api.to_integer(leaves);
  if (count == -1) api.clear_error();
  for (PyObject* object : {tuple, treedef, leaves})
    if (object != nullptr) api.release(object);
  return count;
}

PyObject* call_tree(PyObject* self, PyObject* arguments, PyObject* keywords) {
  Wrapped& wrapped = wrapped_of(self);
  const bool announced = t_depth++ == 0 && stallscope_enabled() != 0;
  if (announced) {
    const OwnTime own;
    count_announcement();
    stallscope_range_begin(wrapped.name);
  }
  PyObject* result = wrapped.api->call(wrapped.original, arguments, keywords);
  if (announced) {
    const OwnTime own;
    stallscope_end();
    // After the range: what counting costs is not the function's.
    if (result != nullptr && wrapped.calls++ % kEvery == 0)
      if (const long long leaves = leaves_of(wrapped, arguments); leaves >= 0)
        stallscope_counter("leaves", static_cast<double>(leaves));
  }
  --t_depth;
  return result;
}

}  // namespace

/// A builtin that announces `original`, a function whose argument number `tree_at` is a pytree.
/// `structure` gives a tree's structure, with its num_leaves.
STALLSCOPE_PYTHON_EXPORT PyObject* stallscope_python_tree(PyObject* original, const char* name,
                                                          PyObject* structure, int tree_at) {
  return or_none(new_builtin(
      {.original = original, .name = name, .structure = structure, .tree_at = tree_at}, call_tree));
}

}  // namespace stallscope::python
