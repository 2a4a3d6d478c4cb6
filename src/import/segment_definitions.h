// What the numbers in a segment's records mean: strings, domains, schemas,
// lanes, stacks, modules.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "import/segment_reader.h"
#include "import/segment_source.h"
#include "trace/trace.h"

namespace stallscope {

/// A name as a Trace keeps it: stem, and the tail of arguments if it has one.
struct SplitName {
  StringId stem = 0;
  StringId args = 0;
};

/// Splits "aten::mul, op_id = 7" where the arguments begin; all stem otherwise.
SplitName split_name(StringTable& strings, std::string_view text);

struct PayloadEntry {
  uint32_t type = 0;
  uint32_t flags = 0;
  StringId key = 0;
  uint32_t array = 0;
  uint32_t offset = 0;
  bool offset_given = false;
};
struct PayloadSchema {
  std::string name;
  uint32_t type = 0;
  uint32_t static_bytes = 0;
  uint32_t pack = 0;
  std::vector<PayloadEntry> entries;
};
struct PayloadEnum {
  uint32_t bytes = 0;
  std::vector<std::pair<uint64_t, StringId>> values;
};
struct SegmentLane {
  int32_t device = -1;
  uint32_t context = 0;
  uint64_t stream = 0;
};
struct SegmentModule {
  std::string path;
  std::string build_id;  ///< hexadecimal
  uint64_t begin = 0, end = 0, bias = 0;
};
struct SegmentCode {
  StringId function = 0;
  StringId file = 0;
  uint32_t first_line = 0;
};

/// All definitions of one segment. Numbers out of range give empty results.
class SegmentDefinitions {
 public:
  explicit SegmentDefinitions(Trace& trace) : trace_(trace) {}

  /// Takes in a definition record; false when its content is damaged.
  bool add(const RecordView& record);

  std::string_view text(uint32_t string) const;
  /// The split name of a string with no text of its own.
  const SplitName& name(uint32_t string) const;
  StringId domain(uint32_t number) const;
  StringId category(uint32_t domain, uint32_t number) const;
  const PayloadSchema* schema(uint32_t number) const;
  const PayloadEnum* enumeration(uint32_t number) const;
  const SegmentLane* lane(uint32_t number) const;
  StackId stack(uint32_t number, const Symbolizer& symbolizer);

  std::unordered_map<uint32_t, StringId> thread_names;
  std::vector<std::string> notes;
  struct HoleMark {
    uint64_t ticks = 0;
    bool opens = false;
    std::string reason;
  };
  std::vector<HoleMark> holes;
  std::vector<HoleMark> captures;

 private:
  bool add_string(const RecordView& record);
  bool add_schema(const RecordView& record);
  bool add_enum(const RecordView& record);
  bool add_module(const RecordView& record);
  void native_frames(uint64_t address, bool innermost, const Symbolizer& symbolizer,
                     std::vector<Frame>& frames) const;

  void drop_interpreter(std::vector<Frame>& frames) const;

  Trace& trace_;
  std::vector<std::string> texts_{""};
  std::vector<SplitName> names_{{}};
  std::unordered_map<uint32_t, StringId> domains_;
  std::map<std::pair<uint32_t, uint32_t>, StringId> categories_;
  std::unordered_map<uint32_t, PayloadSchema> schemas_;
  std::unordered_map<uint32_t, PayloadEnum> enums_;
  std::unordered_map<uint32_t, SegmentLane> lanes_;
  std::unordered_map<uint32_t, SegmentCode> codes_;
  std::unordered_map<uint32_t, std::vector<uint64_t>> raw_stacks_;
  std::unordered_map<uint32_t, StackId> stacks_;
  std::vector<SegmentModule> modules_;
  std::unordered_set<uint32_t> named_by_program_;
};

}  // namespace stallscope
