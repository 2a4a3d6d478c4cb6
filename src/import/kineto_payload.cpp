// What the arguments of a Chrome trace's event say, as payload fields. Fields
// whose value differs at every event (external ids, addresses of kernels) are
// left out: they would cost more than the event and nothing reads them.
#include <string>

#include "import/kineto_builder.h"

namespace stallscope {
namespace {

SyncKind sync_kind_of(std::string_view text) {
  if (text.starts_with("Stream Wait")) return SyncKind::stream_wait_event;
  if (text.starts_with("Event")) return SyncKind::event;
  if (text.starts_with("Stream")) return SyncKind::stream;
  if (text.starts_with("Context") || text.starts_with("Device")) return SyncKind::device;
  return SyncKind::unknown;
}

// The first of a list of texts: what the first operand is made of.
std::string_view first_of(std::string_view list) {
  const size_t open = list.find('"');
  if (open == std::string_view::npos) return {};
  const size_t close = list.find('"', open + 1);
  return close == std::string_view::npos ? std::string_view()
                                         : list.substr(open + 1, close - open - 1);
}

}  // namespace

void KinetoBuilder::text_field(Key key, std::string_view text) {
  if (!text.empty()) fields_.push_back(Field::of_text(key, trace_.strings.intern(text)));
}

void KinetoBuilder::integer_field(const RawEvent& raw, Arg arg, Key key) {
  if (std::optional<int64_t> value = raw.integer(arg, repairs_))
    fields_.push_back(Field::of_integer(key, *value));
}

void KinetoBuilder::collective_fields(const RawEvent& raw) {
  if (!raw.has(Arg::collective)) return;
  text_field(kKeyCollective, raw.text(Arg::collective));
  const std::string_view type = raw.text(Arg::data_type);
  integer_field(raw, Arg::in_elements, kKeyElements);
  integer_field(raw, Arg::out_elements, kKeyOutElements);
  text_field(kKeyDataType, type);
  const std::optional<int64_t> elements = raw.integer(Arg::in_elements, repairs_);
  int64_t bytes = 0;
  if (elements && element_bytes(type) > 0 &&
      !__builtin_mul_overflow(*elements, element_bytes(type), &bytes))
    fields_.push_back(Field::of_integer(kKeyBytes, bytes));
  group_field(raw);
  integer_field(raw, Arg::group_size, kKeyWorldSize);
  integer_field(raw, Arg::sequence, kKeySequence);
  integer_field(raw, raw.has(Arg::peer_target) ? Arg::peer_target : Arg::peer_source, kKeyPeer);
  const std::string_view async = raw.text(Arg::is_async);
  if (!async.empty())
    fields_.push_back(Field::of_integer(
        kKeyAsync, async.starts_with('t') || async == "1" || async.starts_with('T')));
}

StackId KinetoBuilder::call_stack(std::string_view text) {
  std::vector<FrameId> frames;  // the profiler writes the innermost first
  while (!text.empty()) {
    const std::string_view entry = text.substr(0, text.find(';'));
    text.remove_prefix(std::min(text.size(), entry.size() + 1));
    const std::optional<PythonName> name = parse_python_name(entry);
    if (!name) continue;
    frames.push_back(trace_.add_frame({.function = trace_.strings.intern(name->function),
                                       .file = trace_.strings.intern(name->file),
                                       .line = name->line,
                                       .kind = FrameKind::python}));
  }
  return trace_.add_stack(frames);
}

const CopyName& KinetoBuilder::copy_name(StringId name) {
  const auto found = copy_names_.find(name);
  if (found != copy_names_.end()) return found->second;
  return copy_names_[name] = parse_copy_name(trace_.text(name));
}

PayloadId KinetoBuilder::payload_of(const RawEvent& raw, Role role, Event& event) {
  fields_.clear();
  switch (role) {
    case Role::kernel:
      text_field(kKeyGrid, raw.text(Arg::grid));
      text_field(kKeyBlock, raw.text(Arg::block));
      if (raw.integer(Arg::graph_node, repairs_).value_or(0) != 0)
        integer_field(raw, Arg::graph_node, kKeyGraphNode);
      if (raw.integer(Arg::graph, repairs_).value_or(0) != 0)
        integer_field(raw, Arg::graph, kKeyGraph);
      collective_fields(raw);
      break;
    case Role::memcpy: {
      const CopyName name = raw.has(Arg::direction) ? parse_copy_name(raw.text(Arg::direction))
                                                    : copy_name(event.name);
      event.detail = static_cast<uint8_t>(name.kind);
      integer_field(raw, Arg::bytes, kKeyBytes);
      text_field(kKeySourceMemory, name.source);
      text_field(kKeyTargetMemory, name.target);
      break;
    }
    case Role::memset:
      integer_field(raw, Arg::bytes, kKeyBytes);
      break;
    case Role::sync: {
      const std::string_view text = raw.has(Arg::sync_kind) ? raw.text(Arg::sync_kind) : raw.name;
      const SyncKind kind = sync_kind_of(text);
      event.detail = static_cast<uint8_t>(kind);
      if (kind == SyncKind::stream_wait_event) event.kind = EventKind::stream_wait;
      integer_field(raw, Arg::stream, kKeyStream);
      integer_field(raw, Arg::wait_stream, kKeyWaitStream);
      integer_field(raw, Arg::wait_event, kKeyEvent);
      integer_field(raw, Arg::wait_record, kKeyEventRecord);
      break;
    }
    case Role::event_record:
      integer_field(raw, Arg::event_id, kKeyEvent);
      integer_field(raw, Arg::stream, kKeyStream);
      break;
    case Role::op: {
      const int64_t sequence = raw.integer(Arg::sequence_nr, repairs_).value_or(0);
      const int64_t thread = raw.integer(Arg::forward_thread, repairs_).value_or(0);
      if (sequence > 0) fields_.push_back(Field::of_integer(kKeySequenceNr, sequence));
      if (thread > 0) fields_.push_back(Field::of_integer(kKeyForwardThread, thread));
      text_field(kKeyShapes, raw.text(Arg::input_dims));
      if (raw.name.ends_with("mm"))  // matrix products: nothing else is asked for it
        text_field(kKeyDataType, first_of(raw.text(Arg::input_types)));
      collective_fields(raw);
      if (raw.has(Arg::call_stack)) event.stack = call_stack(raw.text(Arg::call_stack));
      break;
    }
    case Role::annotation:
      collective_fields(raw);
      break;
    case Role::unknown:
      if (raw.has(Arg::memcpy_details)) {
        const CopyDetails details = parse_copy_details(raw.text(Arg::memcpy_details));
        if (details.bytes) fields_.push_back(Field::of_integer(kKeyBytes, *details.bytes));
        text_field(kKeySourceMemory, details.source);
        text_field(kKeyTargetMemory, details.target);
      }
      if (raw.has(Arg::step_number)) {
        // XLA marks steps by an argument; the name is the user's own.
        event.name = trace_.strings.intern("step");
        text_field(kKeyArgs, " " + std::string(raw.text(Arg::step_number)) +
                                 ", name = " + std::string(raw.name));
      }
      break;
    default:
      break;
  }
  const PayloadId payload = trace_.add_payload(fields_);
  if (raw.has(Arg::collective)) group_payloads_.insert(payload);
  return payload;
}

}  // namespace stallscope
