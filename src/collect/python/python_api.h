// The functions of CPython's stable interface that the wrappers need, found in
// the running process: one library serves every version, and links to none.
#pragma once

#include <stddef.h>

struct PyObject;

namespace stallscope::python {

using Call = PyObject* (*)(PyObject* self, PyObject* arguments, PyObject* keywords);

/// PyMethodDef of the stable interface.
struct MethodDefinition {
  const char* name;
  Call call;
  int flags;
  const char* document;
};
inline constexpr int kVariableArguments = 0x1, kKeywords = 0x2;

struct Api {
  PyObject* (*call)(PyObject*, PyObject*, PyObject*);
  PyObject* (*new_function)(MethodDefinition*, PyObject*, PyObject*);
  PyObject* (*new_method)(PyObject*);
  PyObject* (*new_capsule)(void*, const char*, void (*)(PyObject*));
  void* (*capsule_pointer)(PyObject*, const char*);
  PyObject* (*attribute)(PyObject*, const char*);
  long long (*to_integer)(PyObject*);
  int (*is_true)(PyObject*);
  const char* (*text)(PyObject*);
  int (*equals)(PyObject*, const char*);
  ptrdiff_t (*tuple_size)(PyObject*);
  PyObject* (*tuple_item)(PyObject*, ptrdiff_t);
  PyObject* (*tuple_slice)(PyObject*, ptrdiff_t, ptrdiff_t);
  PyObject* (*new_tuple)(ptrdiff_t, ...);
  ptrdiff_t (*sequence_size)(PyObject*);
  PyObject* (*sequence_item)(PyObject*, ptrdiff_t);
  PyObject* (*dictionary_item)(PyObject*, const char*);
  void* (*allocate)(size_t);
  void (*clear_error)();
  void (*keep)(PyObject*);
  void (*release)(PyObject*);
  PyObject* none;
};

/// nullptr when one of them is missing: nothing is wrapped then.
const Api* find_api();

}  // namespace stallscope::python
