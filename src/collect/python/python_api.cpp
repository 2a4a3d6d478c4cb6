#include "collect/python/python_api.h"

#include <dlfcn.h>

namespace stallscope::python {
namespace {

template <typename Pointer>
bool find(Pointer& pointer, const char* name) {
  pointer = reinterpret_cast<Pointer>(dlsym(RTLD_DEFAULT, name));
  return pointer != nullptr;
}

bool fill(Api& api) {
  return find(api.call, "PyObject_Call") && find(api.new_function, "PyCFunction_NewEx") &&
         find(api.new_method, "PyInstanceMethod_New") && find(api.new_capsule, "PyCapsule_New") &&
         find(api.capsule_pointer, "PyCapsule_GetPointer") &&
         find(api.attribute, "PyObject_GetAttrString") &&
         find(api.to_integer, "PyLong_AsLongLong") && find(api.is_true, "PyObject_IsTrue") &&
         find(api.text, "PyUnicode_AsUTF8") &&
         find(api.equals, "PyUnicode_CompareWithASCIIString") &&
         find(api.tuple_size, "PyTuple_Size") && find(api.tuple_item, "PyTuple_GetItem") &&
         find(api.tuple_slice, "PyTuple_GetSlice") && find(api.new_tuple, "PyTuple_Pack") &&
         find(api.sequence_size, "PySequence_Size") &&
         find(api.sequence_item, "PySequence_GetItem") &&
         find(api.dictionary_item, "PyDict_GetItemString") && find(api.allocate, "PyMem_Malloc") &&
         find(api.clear_error, "PyErr_Clear") && find(api.keep, "Py_IncRef") &&
         find(api.release, "Py_DecRef") && find(api.none, "_Py_NoneStruct");
}

}  // namespace

const Api* find_api() {
  static Api api;
  static const bool complete = fill(api);
  return complete ? &api : nullptr;
}

}  // namespace stallscope::python
