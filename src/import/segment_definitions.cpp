#include "import/segment_definitions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace stallscope {
namespace {

using segment::RecordKind;

// String numbers are dense from 1; the writer's cap is far below this.
constexpr uint32_t kMostStrings = 1 << 20;

template <typename T>
bool take(std::span<const unsigned char>& bytes, T& value) {
  if (bytes.size() < sizeof value) return false;
  std::memcpy(&value, bytes.data(), sizeof value);
  bytes = bytes.subspan(sizeof value);
  return true;
}

template <typename Map>
const typename Map::mapped_type* find(const Map& map, const typename Map::key_type& key) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : &found->second;
}

// The headers through which an event was announced, inlined into the program.
bool announces(std::string_view file) {
  return file.ends_with("/annotate.h") || file.ends_with("/annotate_schemas.h") ||
         file.find("/nvtx3/") != std::string_view::npos;
}

std::string_view file_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

}  // namespace

SplitName split_name(StringTable& strings, std::string_view text) {
  const size_t comma = text.find(", ");
  if (comma == std::string_view::npos || comma == 0 ||
      text.find('=', comma) == std::string_view::npos)
    return {strings.intern(text), 0};
  return {strings.intern(text.substr(0, comma)), strings.intern(text.substr(comma))};
}

bool SegmentDefinitions::add(const RecordView& record) {
  const segment::Record& head = record.head;
  switch (head.kind) {
    case RecordKind::string:
      return add_string(record);
    case RecordKind::domain:
      domains_[head.extra] = trace_.strings.intern(text(head.name));
      return true;
    case RecordKind::category:
      categories_[{record.tail.tail, head.extra}] = trace_.strings.intern(text(head.name));
      return true;
    case RecordKind::schema:
      return add_schema(record);
    case RecordKind::enumeration:
      return add_enum(record);
    case RecordKind::lane: {
      segment::Lane lane{};
      auto body = record.body;
      if (!take(body, lane)) return false;
      lanes_[record.tail.tail] = {lane.device, lane.context, lane.stream};
      return true;
    }
    case RecordKind::stack: {
      std::vector<uint64_t> frames(std::min<size_t>(record.body.size() / 8, head.extra));
      if (!frames.empty()) std::memcpy(frames.data(), record.body.data(), frames.size() * 8);
      raw_stacks_[head.name] = std::move(frames);
      return true;
    }
    case RecordKind::code: {
      segment::PythonCode code{};
      auto body = record.body;
      if (!take(body, code)) return false;
      codes_[head.extra] = {trace_.strings.intern(text(head.name)),
                            trace_.strings.intern(text(code.file)), code.first_line};
      return true;
    }
    case RecordKind::module:
      return add_module(record);
    case RecordKind::thread_name:
      if (record.tail.tail == segment::kNamedByProgram)
        named_by_program_.insert(head.extra);
      else if (named_by_program_.contains(head.extra))
        return true;
      thread_names[head.extra] = trace_.strings.intern(text(head.name));
      return true;
    case RecordKind::note:
      notes.emplace_back(text(head.name));
      return true;
    case RecordKind::hole:
      holes.push_back(
          {head.start, record.tail.tail == segment::kHoleOpens, std::string(text(head.name))});
      return true;
    case RecordKind::capture:
      captures.push_back({head.start, record.tail.tail == segment::kCaptureOpens, {}});
      return true;
    case RecordKind::resource:
      return true;  // names of handles: nothing in a Trace refers to them yet
    default:
      return false;
  }
}

bool SegmentDefinitions::add_string(const RecordView& record) {
  const uint32_t number = record.head.name;
  if (number == 0 || number > kMostStrings || record.head.text_bytes > record.body.size())
    return false;
  if (number >= texts_.size()) {
    texts_.resize(number + 1);
    names_.resize(number + 1);
  }
  texts_[number].assign(reinterpret_cast<const char*>(record.body.data()), record.head.text_bytes);
  names_[number] = split_name(trace_.strings, texts_[number]);
  return true;
}

bool SegmentDefinitions::add_schema(const RecordView& record) {
  segment::SchemaHead head{};
  auto body = record.body;
  if (!take(body, head) || head.entries > body.size() / sizeof(segment::SchemaEntry)) return false;
  PayloadSchema schema;
  schema.name = text(record.head.name);
  schema.type = head.type;
  schema.static_bytes = head.static_bytes;
  schema.pack = head.pack;
  for (uint32_t i = 0; i < head.entries; ++i) {
    segment::SchemaEntry entry{};
    take(body, entry);
    const std::string_view key = text(entry.name);
    schema.entries.push_back(
        {entry.type, entry.flags,
         trace_.strings.intern(key.empty() ? fmt::format("field{}", i) : std::string(key)),
         entry.array, entry.offset, entry.offset_given != 0});
  }
  schemas_[record.tail.tail] = std::move(schema);
  return true;
}

bool SegmentDefinitions::add_enum(const RecordView& record) {
  segment::EnumHead head{};
  auto body = record.body;
  if (!take(body, head) || head.entries > body.size() / sizeof(segment::EnumEntry) ||
      head.bytes > 8)
    return false;
  PayloadEnum values;
  values.bytes = head.bytes;
  for (uint32_t i = 0; i < head.entries; ++i) {
    segment::EnumEntry entry{};
    take(body, entry);
    values.values.emplace_back(entry.value, trace_.strings.intern(text(entry.name)));
  }
  enums_[record.tail.tail] = std::move(values);
  return true;
}

bool SegmentDefinitions::add_module(const RecordView& record) {
  segment::Module module{};
  auto body = record.body;
  if (!take(body, module) || module.text_begin >= module.text_end) return false;
  SegmentModule added;
  added.path = text(record.head.name);
  added.begin = module.text_begin;
  added.end = module.text_end;
  added.bias = record.head.start;
  for (size_t i = 0; i < module.build_id_bytes && i < sizeof module.build_id; ++i)
    added.build_id += fmt::format("{:02x}", module.build_id[i]);
  modules_.push_back(std::move(added));
  return true;
}

std::string_view SegmentDefinitions::text(uint32_t string) const {
  return string < texts_.size() ? std::string_view(texts_[string]) : std::string_view();
}

const SplitName& SegmentDefinitions::name(uint32_t string) const {
  return names_[string < names_.size() ? string : 0];
}

StringId SegmentDefinitions::domain(uint32_t number) const {
  const StringId* found = find(domains_, number);
  return found == nullptr ? 0 : *found;
}

StringId SegmentDefinitions::category(uint32_t domain, uint32_t number) const {
  const StringId* found = find(categories_, {domain, number});
  return found == nullptr ? 0 : *found;
}

const PayloadSchema* SegmentDefinitions::schema(uint32_t number) const {
  return find(schemas_, number);
}
const PayloadEnum* SegmentDefinitions::enumeration(uint32_t number) const {
  return find(enums_, number);
}
const SegmentLane* SegmentDefinitions::lane(uint32_t number) const {
  return find(lanes_, number);
}

void SegmentDefinitions::native_frames(uint64_t address, bool innermost,
                                       const Symbolizer& symbolizer,
                                       std::vector<Frame>& frames) const {
  // The last object mapped at an address is the one that a late stack means.
  const SegmentModule* module = nullptr;
  for (auto it = modules_.rbegin(); it != modules_.rend() && module == nullptr; ++it)
    if (address >= it->begin && address < it->end) module = &*it;
  // The recorder's own frames are not the program's.
  if (frames.empty() && module != nullptr && file_name(module->path).starts_with("libstallscope-"))
    return;
  NativeAddress place;
  place.address = address;
  place.is_return_address = !innermost;
  if (module != nullptr) {
    place.module_path = module->path;
    place.build_id = module->build_id;
    place.address = address - module->bias;
  }
  const size_t before = frames.size();
  if (symbolizer) symbolizer(trace_, place, frames);
  if (frames.size() > before) {
    if (before == 0)
      frames.erase(frames.begin(), std::ranges::find_if_not(frames, [&](const Frame& frame) {
                     return announces(trace_.text(frame.file));
                   }));
    return;
  }
  const std::string_view path = module == nullptr ? "" : std::string_view(module->path);
  Frame frame;
  frame.function = trace_.strings.intern(
      module == nullptr ? fmt::format("{:#x}", address)
                        : fmt::format("{}+{:#x}", file_name(path), place.address));
  frame.module = trace_.strings.intern(path);
  frames.push_back(frame);
}

void SegmentDefinitions::drop_interpreter(std::vector<Frame>& frames) const {
  const auto evaluates = [&](const Frame& frame) {
    const std::string_view module = file_name(trace_.text(frame.module));
    return module.starts_with("libpython") || module.starts_with("python") ||
           trace_.text(frame.function).find("_PyEval_") != std::string_view::npos;
  };
  frames.erase(std::ranges::find_if(frames, evaluates), frames.end());
}

StackId SegmentDefinitions::stack(uint32_t number, const Symbolizer& symbolizer) {
  if (number == 0) return 0;
  if (const StackId* known = find(stacks_, number)) return *known;
  StackId id = 0;
  if (const std::vector<uint64_t>* raw = find(raw_stacks_, number)) {
    std::vector<Frame> frames;
    bool in_python = false;
    for (const uint64_t word : *raw) {
      if ((word & segment::kPythonFrame) == 0) {
        native_frames(word, false, symbolizer, frames);
        continue;
      }
      // The interpreter's own frames, and all below them, stand for the Python frames.
      if (!in_python) drop_interpreter(frames);
      in_python = true;
      const auto code_number = static_cast<uint32_t>((word >> 32) & 0x7fffffff);
      const SegmentCode* code = find(codes_, code_number);
      if (code == nullptr) continue;
      const auto line = static_cast<uint32_t>(word);
      frames.push_back({.function = code->function,
                        .file = code->file,
                        .module = 0,
                        .line = line != 0 ? line : code->first_line,
                        .kind = FrameKind::python});
    }
    std::vector<FrameId> ids;
    ids.reserve(frames.size());
    for (const Frame& frame : frames) ids.push_back(trace_.add_frame(frame));
    id = trace_.add_stack(ids);
  }
  stacks_[number] = id;
  return id;
}

}  // namespace stallscope
