// Builtin functions that announce a call and make it. They are no Python code:
// nothing a tracer of Python could follow, and no frame in anybody's stacks.
#pragma once

#include <stdint.h>

#include "collect/python/python_api.h"

#define STALLSCOPE_PYTHON_EXPORT extern "C" __attribute__((visibility("default")))

namespace stallscope::python {

/// What a builtin works with; lives as long as the process.
struct Wrapped {
  const Api* api = nullptr;
  PyObject* original = nullptr;  ///< what is called; nullptr for builtins that only announce
  const char* name = nullptr;
  uint8_t operation = 0;          ///< of a collective: enum stallscope_collective_op
  PyObject* structure = nullptr;  ///< of a function over trees: gives a tree's treedef
  int tree_at = 0;                ///< which of its arguments is the tree
  uint32_t calls = 0;
  MethodDefinition definition = {};
};

/// A builtin function that calls `call` with a capsule of `what` (its name copied, its objects
/// kept) as its self. nullptr when memory is short or the interpreter lacks something.
PyObject* new_builtin(const Wrapped& what, Call call);

/// None in place of nullptr, which ctypes would follow.
PyObject* or_none(PyObject* object);

/// What a builtin was made with.
Wrapped& wrapped_of(PyObject* self);

/// How often builtins announced something.
void count_announcement();

}  // namespace stallscope::python
