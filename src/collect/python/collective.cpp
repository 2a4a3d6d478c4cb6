// The methods of torch.distributed's process groups, announced with what they
// move and between whom.
#include <string.h>

#include "collect/annotate.h"
#include "collect/python/own_time.h"
#include "collect/python/wrap.h"

namespace stallscope::python {
namespace {

thread_local int t_depth __attribute__((tls_model("initial-exec"))) = 0;

/// An owned reference that ends with its scope.
class Reference {
 public:
  Reference(const Api& api, PyObject* object) : api_(api), object_(object) {
    if (object == nullptr) api.clear_error();
  }
  ~Reference() {
    if (object_ != nullptr) api_.release(object_);
  }
  Reference(const Reference&) = delete;
  Reference& operator=(const Reference&) = delete;
  PyObject* get() const { return object_; }

 private:
  const Api& api_;
  PyObject* object_;
};

/// The number that an attribute holds; `missing` when it has none.
int64_t number(const Api& api, PyObject* object, const char* attribute, int64_t missing) {
  const Reference value(api, api.attribute(object, attribute));
  if (value.get() == nullptr) return missing;
  const int64_t result = api.to_integer(value.get());
  if (result == -1) api.clear_error();
  return result;
}

struct Amount {
  int64_t bytes = 0, elements = 0;
};

/// Sums over a tensor, or over a list of tensors or of such lists.
void add_tensors(const Api& api, PyObject* object, int depth, Amount& amount) {
  const int64_t bytes = number(api, object, "nbytes", -1);
  if (bytes >= 0) {
    amount.bytes += bytes;
    const int64_t each = number(api, object, "itemsize", 0);
    if (each > 0) amount.elements += bytes / each;
    return;
  }
  constexpr int kDeepest = 3;
  const ptrdiff_t size = depth < kDeepest ? api.sequence_size(object) : 0;
  if (size < 0) api.clear_error();
  for (ptrdiff_t i = 0; i < size; ++i) {
    const Reference item(api, api.sequence_item(object, i));
    if (item.get() != nullptr) add_tensors(api, item.get(), depth + 1, amount);
  }
}

uint64_t hash(const char* text) {
  uint64_t value = 0xcbf29ce484222325ULL;  // FNV-1a
  for (; *text != '\0'; ++text) value = (value ^ static_cast<uint8_t>(*text)) * 0x100000001b3ULL;
  return value;
}

/// Groups have equal names on all their ranks, and make their calls in one order.
struct Group {
  uint64_t name, calls;
};
constexpr size_t kMostGroups = 256;
Group g_groups[kMostGroups];  // under the GIL

uint64_t next_call(uint64_t name) {
  for (Group& group : g_groups) {
    if (group.calls == 0) group.name = name;
    if (group.name == name) return ++group.calls;
  }
  return 0;
}

uint32_t size_of(const Api& api, PyObject* group) {
  const Reference method(api, api.attribute(group, "size"));
  const Reference none(api, api.new_tuple(0));
  if (method.get() == nullptr || none.get() == nullptr) return 0;
  const Reference size(api, api.call(method.get(), none.get(), nullptr));
  const int64_t value = size.get() == nullptr ? 0 : api.to_integer(size.get());
  return value > 0 ? static_cast<uint32_t>(value) : 0;
}

/// What the latest calls move, by the handle that they gave back, so that a wait
/// can say what it waits for. Handles are only compared: they may be gone.
struct Issued {
  const PyObject* handle;
  stallscope_collective call;
};
constexpr size_t kRemembered = 32;
Issued g_issued[kRemembered];  // under the GIL
size_t g_next_issued = 0;

void remember(const PyObject* handle, const stallscope_collective& call) {
  g_issued[g_next_issued++ % kRemembered] = {handle, call};
}

stallscope_collective wait_for(const PyObject* handle) {
  stallscope_collective wait;
  wait.device = -1;
  wait.peer = -1;
  for (size_t back = 1; back <= kRemembered; ++back) {
    const Issued& issued = g_issued[(g_next_issued + kRemembered - back) % kRemembered];
    if (issued.handle != handle || handle == nullptr) continue;
    wait = issued.call;
    wait.sequence = 0;  // the call itself has it
    wait.async = 0;
    break;
  }
  wait.op = STALLSCOPE_COLLECTIVE_WAIT;
  return wait;
}

bool is_message(uint8_t operation) {
  return operation == STALLSCOPE_COLLECTIVE_SEND || operation == STALLSCOPE_COLLECTIVE_RECEIVE;
}

stallscope_collective describe(const Wrapped& wrapped, PyObject* arguments) {
  const Api& api = *wrapped.api;
  stallscope_collective call;
  call.op = wrapped.operation;
  call.device = -1;
  call.peer = -1;
  const ptrdiff_t count = api.tuple_size(arguments);
  if (count < 1) return call;
  if (wrapped.operation == STALLSCOPE_COLLECTIVE_WAIT)
    return wait_for(api.tuple_item(arguments, 0));
  PyObject* group = api.tuple_item(arguments, 0);
  const Reference name(api, api.attribute(group, "group_name"));
  const char* text = name.get() == nullptr ? nullptr : api.text(name.get());
  if (text == nullptr) api.clear_error();
  call.group = hash(text == nullptr ? "" : text);
  call.world_size = size_of(api, group);
  Amount amount;
  if (count > 1) add_tensors(api, api.tuple_item(arguments, 1), 0, amount);
  call.bytes = static_cast<uint64_t>(amount.bytes);
  call.elements = static_cast<uint64_t>(amount.elements);
  if (is_message(wrapped.operation)) {
    const int64_t peer = count > 2 ? api.to_integer(api.tuple_item(arguments, 2)) : -1;
    if (peer == -1) api.clear_error();
    call.peer = static_cast<int32_t>(peer);
    call.async = 1;  // gives back a handle to wait for
    return call;
  }
  call.sequence = next_call(call.group);
  for (ptrdiff_t i = 2; i < count; ++i) {
    const Reference async(api, api.attribute(api.tuple_item(arguments, i), "asyncOp"));
    if (async.get() != nullptr) call.async = api.is_true(async.get()) == 1 ? 1 : 0;
  }
  return call;
}

PyObject* call_collective(PyObject* self, PyObject* arguments, PyObject* keywords) {
  const Wrapped& wrapped = wrapped_of(self);
  // Waiting within a call that waits is that call's.
  const bool announced = t_depth++ == 0 && stallscope_enabled() != 0;
  stallscope_collective call;
  if (announced) {
    const OwnTime own;
    count_announcement();
    call = describe(wrapped, arguments);
    stallscope_collective_begin(wrapped.name, call);
  }
  PyObject* result = wrapped.api->call(wrapped.original, arguments, keywords);
  --t_depth;
  if (announced) {
    const OwnTime own;
    stallscope_end();
    if (call.op != STALLSCOPE_COLLECTIVE_WAIT) remember(result, call);
  }
  return result;
}

}  // namespace

/// A builtin that announces `original`, a method of a process group or of a work handle.
/// `operation`: enum stallscope_collective_op.
STALLSCOPE_PYTHON_EXPORT PyObject* stallscope_python_collective(PyObject* original,
                                                                const char* name, int operation) {
  return or_none(new_builtin(
      {.original = original, .name = name, .operation = static_cast<uint8_t>(operation)},
      call_collective));
}

}  // namespace stallscope::python
