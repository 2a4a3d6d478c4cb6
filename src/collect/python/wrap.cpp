#include "collect/python/wrap.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include <initializer_list>

#include "collect/annotate.h"
#include "collect/python/own_time.h"

namespace stallscope::python {
namespace {

constexpr char kCapsule[] = "stallscope.wrapped";

uint64_t g_announcements = 0;

class Announced {
 public:
  explicit Announced(const char* name) {
    const OwnTime own;
    count_announcement();
    stallscope_range_begin(name);
  }
  ~Announced() {
    const OwnTime own;
    stallscope_end();
  }
  Announced(const Announced&) = delete;
  Announced& operator=(const Announced&) = delete;
};

PyObject* call_in_range(PyObject* self, PyObject* arguments, PyObject* keywords) {
  const Wrapped& wrapped = wrapped_of(self);
  const Announced announced(wrapped.name);
  return wrapped.api->call(wrapped.original, arguments, keywords);
}

PyObject* call_in_wait(PyObject* self, PyObject* arguments, PyObject* keywords) {
  const Wrapped& wrapped = wrapped_of(self);
  {
    const OwnTime own;
    count_announcement();
    stallscope_wait_begin(wrapped.name, {});
  }
  PyObject* result = wrapped.api->call(wrapped.original, arguments, keywords);
  const OwnTime own;
  stallscope_end();
  return result;
}

/// "jit train_step" from the name "jit fn" of a builtin and the attribute `fn` of an object.
class Label {
 public:
  Label(const Api& api, PyObject* object, const char* name) {
    const char* space = strchr(name, ' ');
    PyObject* label = space == nullptr ? nullptr : api.attribute(object, space + 1);
    const char* text = label == nullptr ? nullptr : api.text(label);
    if (text == nullptr) api.clear_error();
    size_t used = 0;
    const auto add = [&](const char* part, size_t bytes) {
      for (size_t i = 0; i < bytes && part[i] != 0 && used + 1 < sizeof text_; ++i)
        text_[used++] = part[i];
    };
    add(name, space == nullptr ? sizeof text_ : static_cast<size_t>(space - name) + 1);
    if (text != nullptr) add(text, sizeof text_);
    text_[used] = 0;
    if (label != nullptr) api.release(label);
  }
  const char* text() const { return text_; }

 private:
  char text_[96];
};

/// A function whose range is named by an attribute of its first argument.
PyObject* call_named(PyObject* self, PyObject* arguments, PyObject* keywords) {
  const Wrapped& wrapped = wrapped_of(self);
  const Api& api = *wrapped.api;
  if (api.tuple_size(arguments) < 1) return api.call(wrapped.original, arguments, keywords);
  const Label label(api, api.tuple_item(arguments, 0), wrapped.name);
  const Announced announced(label.text());
  return api.call(wrapped.original, arguments, keywords);
}

/// The same for an object that stands for its `__wrapped__`, which is called with the rest.
PyObject* call_wrapped(PyObject* self, PyObject* arguments, PyObject* keywords) {
  const Wrapped& wrapped = wrapped_of(self);
  const Api& api = *wrapped.api;
  PyObject* object = api.tuple_item(arguments, 0);  // a method always has it
  PyObject* function = object == nullptr ? nullptr : api.attribute(object, "__wrapped__");
  if (function == nullptr) return nullptr;
  PyObject* rest = api.tuple_slice(arguments, 1, api.tuple_size(arguments));
  PyObject* result = nullptr;
  if (rest != nullptr) {
    const Label label(api, object, wrapped.name);
    const Announced announced(label.text());
    result = api.call(function, rest, keywords);
    api.release(rest);
  }
  api.release(function);
  return result;
}

PyObject* begin(PyObject* self, PyObject*, PyObject*) {
  const OwnTime own;
  const Wrapped& wrapped = wrapped_of(self);
  count_announcement();
  stallscope_range_begin(wrapped.name);
  wrapped.api->keep(wrapped.api->none);
  return wrapped.api->none;
}

PyObject* end(PyObject* self, PyObject*, PyObject*) {
  const OwnTime own;
  const Wrapped& wrapped = wrapped_of(self);
  stallscope_end();
  wrapped.api->keep(wrapped.api->none);
  return wrapped.api->none;
}

/// gc.callbacks: called with "start" and "stop".
PyObject* collection(PyObject* self, PyObject* arguments, PyObject*) {
  const OwnTime own;
  const Wrapped& wrapped = wrapped_of(self);
  const Api& api = *wrapped.api;
  // The youngest generation is collected all the time and costs microseconds.
  PyObject* generation = api.tuple_size(arguments) > 1
                             ? api.dictionary_item(api.tuple_item(arguments, 1), "generation")
                             : nullptr;
  if (generation != nullptr && api.to_integer(generation) > 0) {
    if (api.equals(api.tuple_item(arguments, 0), "start") == 0) {
      count_announcement();
      stallscope_range_begin(wrapped.name);
    } else {
      stallscope_end();
    }
  }
  api.keep(api.none);
  return api.none;
}

/// counter(value): an integer.
PyObject* counter(PyObject* self, PyObject* arguments, PyObject*) {
  const Wrapped& wrapped = wrapped_of(self);
  const Api& api = *wrapped.api;
  if (api.tuple_size(arguments) > 0) {
    const long long value = api.to_integer(api.tuple_item(arguments, 0));
    if (value == -1) api.clear_error();
    stallscope_counter(wrapped.name, static_cast<double>(value));
  }
  api.keep(api.none);
  return api.none;
}

/// A function of the collector that listens to this program; nullptr without one.
void (*collector_function(const char* name))() {
  const char* path = getenv("NVTX_INJECTION64_PATH");
  void* collector = path == nullptr ? nullptr : dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
  return collector == nullptr ? nullptr : reinterpret_cast<void (*)()>(dlsym(collector, name));
}

/// Frees the GPU's tracing interface for the profiler that `original` is about to start.
PyObject* call_after_release(PyObject* self, PyObject* arguments, PyObject* keywords) {
  const Wrapped& wrapped = wrapped_of(self);
  if (const auto begins = collector_function("stallscope_profiler_begins")) begins();
  return wrapped.api->call(wrapped.original, arguments, keywords);
}

/// Says that the profiler which `original` stops no longer measures.
PyObject* call_then_resume(PyObject* self, PyObject* arguments, PyObject* keywords) {
  const Wrapped& wrapped = wrapped_of(self);
  PyObject* result = wrapped.api->call(wrapped.original, arguments, keywords);
  if (const auto ends = collector_function("stallscope_profiler_ends")) ends();
  return result;
}

/// Takes what the GPU has still to deliver before `original` ends the program without clean-up.
PyObject* call_after_flush(PyObject* self, PyObject* arguments, PyObject* keywords) {
  const Wrapped& wrapped = wrapped_of(self);
  if (const auto flush = collector_function("stallscope_flush_gpu")) flush();
  return wrapped.api->call(wrapped.original, arguments, keywords);
}

struct Shape {
  const char* name;
  Call call;
};
constexpr Shape kShapes[] = {
    {"range", call_in_range},
    {"release", call_after_release},
    {"flush", call_after_flush},
    {"resume", call_then_resume},
    {"wait", call_in_wait},
    {"named", call_named},
    {"wrapped", call_wrapped},
    {"begin", begin},
    {"end", end},
    {"collection", collection},
    {"counter", counter},
};

}  // namespace

void count_announcement() {
  __atomic_add_fetch(&g_announcements, 1, __ATOMIC_RELAXED);
}

Wrapped& wrapped_of(PyObject* self) {
  // The capsule is this library's own, so it holds what new_builtin() put there.
  return *static_cast<Wrapped*>(find_api()->capsule_pointer(self, kCapsule));
}

PyObject* or_none(PyObject* object) {
  if (object != nullptr) return object;
  PyObject* none = find_api()->none;  // ready() was asked before
  find_api()->keep(none);
  return none;
}

PyObject* new_builtin(const Wrapped& what, Call call) {
  const Api* api = find_api();
  if (api == nullptr) return nullptr;
  const size_t name_bytes = strlen(what.name) + 1;
  auto* wrapped = static_cast<Wrapped*>(api->allocate(sizeof(Wrapped) + name_bytes));
  if (wrapped == nullptr) return nullptr;
  char* name = reinterpret_cast<char*>(wrapped + 1);
  memcpy(name, what.name, name_bytes);
  *wrapped = what;
  wrapped->api = api;
  wrapped->name = name;
  wrapped->definition = {name, call, kVariableArguments | kKeywords, nullptr};
  PyObject* capsule = api->new_capsule(wrapped, kCapsule, nullptr);
  if (capsule == nullptr) return nullptr;
  for (PyObject* object : {what.original, what.structure})
    if (object != nullptr) api->keep(object);
  PyObject* builtin = api->new_function(&wrapped->definition, capsule, nullptr);
  api->release(capsule);
  return builtin;
}

/// A builtin of a shape: range, wait, release, resume, flush and named call `original`, wrapped
/// calls what its first argument stands for; begin, end, collection and counter announce only. None
/// for an unknown shape.
STALLSCOPE_PYTHON_EXPORT PyObject* stallscope_python_builtin(const char* shape, PyObject* original,
                                                             const char* name) {
  for (const Shape& each : kShapes)
    if (strcmp(each.name, shape) == 0)
      return or_none(new_builtin({.original = original, .name = name}, each.call));
  return or_none(nullptr);
}

/// The callable as a method: found in a class, it is called with the object first.
STALLSCOPE_PYTHON_EXPORT PyObject* stallscope_python_method(PyObject* callable) {
  return or_none(find_api()->new_method(callable));
}

/// 1 when wrappers can be made in this interpreter and a tool listens to them.
STALLSCOPE_PYTHON_EXPORT int stallscope_python_ready() {
  return find_api() != nullptr && stallscope_enabled() != 0 ? 1 : 0;
}

STALLSCOPE_PYTHON_EXPORT uint64_t stallscope_python_announcements() {
  return __atomic_load_n(&g_announcements, __ATOMIC_RELAXED);
}

/// Nanoseconds that marks took in this process, without the interpreter's own call of them.
STALLSCOPE_PYTHON_EXPORT uint64_t stallscope_python_own_ns() {
  return own_time_ns();
}

}  // namespace stallscope::python
