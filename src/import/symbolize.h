// From addresses in machine code to functions, files and lines, offline.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "import/segment_reader.h"

namespace stallscope {

/// One level of a symbolised place. Unknown texts are empty, an unknown line 0.
struct SymbolFrame {
  std::string function;  ///< qualified, without parameters
  std::string file;
  uint32_t line = 0;
  bool operator==(const SymbolFrame&) const = default;
};

/// Reads the symbols of one object file through libdw: DWARF of the file itself
/// or of its separate debug file, else its symbol table.
class ObjectSymbols {
 public:
  /// Opens `path` if it is the object with `build_id`; otherwise the debug file
  /// that is installed for that id. nullptr when neither is there.
  static std::unique_ptr<ObjectSymbols> open(const std::string& path, std::string_view build_id);
  virtual ~ObjectSymbols() = default;
  /// The frames at an address of the object's file, innermost (inlined) first;
  /// empty when nothing is known.
  virtual std::vector<SymbolFrame> lookup(uint64_t address) = 0;
};

/// The symbols of a run: looked up once per address, kept with the run folder
/// so that it can be read where the binaries are not.
class RunSymbols {
 public:
  /// Reads symbols.json text; what is damaged is left out, because every symbol
  /// can be looked up again.
  void load(std::string_view json);
  /// All symbols known so far, as symbols.json.
  std::string to_json() const;
  bool changed() const { return changed_; }

  /// Frames at a place; falls back to one frame named "module+0xaddress".
  const std::vector<SymbolFrame>& frames(const NativeAddress& place);
  /// For read_segment(); this object must outlive it.
  Symbolizer symbolizer();
  /// Objects that could not be opened, or are not the ones that ran.
  std::vector<std::string> missing() const;

 private:
  std::map<std::string, std::vector<SymbolFrame>, std::less<>> known_;
  /// Not kept with the run: another machine may have the symbols.
  std::map<std::string, std::vector<SymbolFrame>, std::less<>> unnamed_;
  std::map<std::string, std::unique_ptr<ObjectSymbols>, std::less<>> objects_;
  bool changed_ = false;
};

/// "ns::Type::method" from a demangled name: without parameters, return type
/// and the clone suffixes of the compiler.
std::string plain_function_name(std::string_view demangled);

}  // namespace stallscope
