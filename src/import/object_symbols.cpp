// ObjectSymbols by libdw (elfutils).
#include <cxxabi.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>

#include "import/symbolize.h"
#include "import/unit_ranges.h"

namespace stallscope {
namespace {

namespace fs = std::filesystem;

struct FreeDeleter {
  void operator()(void* memory) const { std::free(memory); }
};
struct DwflDeleter {
  void operator()(Dwfl* dwfl) const { dwfl_end(dwfl); }
};

std::string demangle(const char* name) {
  int status = 0;
  const std::unique_ptr<char, FreeDeleter> text(
      abi::__cxa_demangle(name, nullptr, nullptr, &status));
  return plain_function_name(text ? text.get() : name);
}

/// With namespace and class; empty where the object has line tables only (Clang's -g1).
std::string qualified_name(Dwarf_Die* die) {
  Dwarf_Attribute attribute;
  for (const unsigned name : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name})
    if (dwarf_attr_integrate(die, name, &attribute) != nullptr)
      if (const char* text = dwarf_formstring(&attribute)) return demangle(text);
  return {};
}

std::string plain_name(Dwarf_Die* die) {
  const char* text = dwarf_diename(die);
  return text == nullptr ? std::string() : text;
}

std::optional<Dwarf_Word> die_number(Dwarf_Die* die, unsigned name) {
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  if (dwarf_attr(die, name, &attribute) == nullptr || dwarf_formudata(&attribute, &value) != 0)
    return std::nullopt;
  return value;
}

/// A path of the line table, made absolute by the folder the unit was compiled in.
std::string source_path(Dwarf_Die* unit, const char* name) {
  if (name == nullptr) return {};
  fs::path path(name);
  if (path.is_relative() && unit != nullptr) {
    Dwarf_Attribute attribute;
    const char* folder = dwarf_attr(unit, DW_AT_comp_dir, &attribute) != nullptr
                             ? dwarf_formstring(&attribute)
                             : nullptr;
    if (folder != nullptr) path = fs::path(folder) / path;
  }
  return path.lexically_normal().string();
}

/// File and line of the call that an inlined function replaced.
void set_call_site(Dwarf_Die* inlined, Dwarf_Die* unit, SymbolFrame& caller) {
  Dwarf_Files* files = nullptr;
  const std::optional<Dwarf_Word> file = die_number(inlined, DW_AT_call_file);
  if (file && dwarf_getsrcfiles(unit, &files, nullptr) == 0)
    caller.file = source_path(unit, dwarf_filesrc(files, *file, nullptr, nullptr));
  caller.line = static_cast<uint32_t>(die_number(inlined, DW_AT_call_line).value_or(0));
}

class LibdwSymbols final : public ObjectSymbols {
 public:
  bool load(const std::string& path) {
    // Symbols come from this machine alone: a download would stall the report.
    ::unsetenv("DEBUGINFOD_URLS");
    static const Dwfl_Callbacks kCallbacks = {.find_elf = dwfl_build_id_find_elf,
                                              .find_debuginfo = dwfl_standard_find_debuginfo,
                                              .section_address = dwfl_offline_section_address,
                                              .debuginfo_path = nullptr};
    std::error_code error;
    if (!fs::is_regular_file(path, error)) return false;
    dwfl_.reset(dwfl_begin(&kCallbacks));
    if (!dwfl_) return false;
    dwfl_report_begin(dwfl_.get());
    module_ = dwfl_report_offline(dwfl_.get(), path.c_str(), path.c_str(), -1);
    dwfl_report_end(dwfl_.get(), nullptr, nullptr);
    return module_ != nullptr && dwfl_module_getelf(module_, &bias_) != nullptr;
  }

  /// True when the object carries this build id, or the id is not known.
  bool has_build_id(std::string_view wanted) const {
    if (wanted.empty()) return true;
    const unsigned char* bits = nullptr;
    GElf_Addr address = 0;
    const int bytes = dwfl_module_build_id(module_, &bits, &address);
    std::string text;
    for (int i = 0; i < bytes; ++i) {
      constexpr char kDigits[] = "0123456789abcdef";
      text += kDigits[bits[i] >> 4];
      text += kDigits[bits[i] & 15];
    }
    return text == wanted;
  }

  std::vector<SymbolFrame> lookup(uint64_t file_address) override {
    const GElf_Addr address = file_address + bias_;
    std::vector<SymbolFrame> frames = from_dwarf(address);
    if (!frames.empty() && !frames.back().function.empty()) return frames;
    const std::string name = symbol_name(address);
    if (name.empty()) return frames;
    if (frames.empty()) frames.emplace_back();
    frames.back().function = name;
    return frames;
  }

 private:
  /// Of the symbol table; empty without one.
  std::string symbol_name(GElf_Addr address) {
    GElf_Off offset = 0;
    GElf_Sym symbol;
    const char* name =
        dwfl_module_addrinfo(module_, address, &offset, &symbol, nullptr, nullptr, nullptr);
    return name == nullptr ? std::string() : demangle(name);
  }

  std::vector<SymbolFrame> from_dwarf(GElf_Addr address) {
    const auto [unit, bias] = units_.at(module_, address);
    if (unit == nullptr) return {};
    SymbolFrame innermost;
    if (Dwarf_Line* line = dwarf_getsrc_die(unit, address - bias)) {
      int number = 0;
      dwarf_lineno(line, &number);
      innermost.file = source_path(unit, dwarf_linesrc(line, nullptr, nullptr));
      innermost.line = static_cast<uint32_t>(number);
    }
    return with_inlined(unit, address, bias, innermost);
  }

  /// From the innermost scope outwards: every inlined function is a frame, and
  /// the place where it was inlined is its caller's.
  std::vector<SymbolFrame> with_inlined(Dwarf_Die* unit, Dwarf_Addr address, Dwarf_Addr bias,
                                        const SymbolFrame& innermost) {
    Dwarf_Die* found = nullptr;
    if (dwarf_getscopes(unit, address - bias, &found) <= 0) return {};
    const std::unique_ptr<Dwarf_Die, FreeDeleter> at_address(found);
    const int count = dwarf_getscopes_die(at_address.get(), &found);
    if (count <= 0) return {};
    const std::unique_ptr<Dwarf_Die, FreeDeleter> scopes(found);
    std::vector<SymbolFrame> frames;
    SymbolFrame frame = innermost;
    for (int i = 0; i < count; ++i) {
      Dwarf_Die* scope = scopes.get() + i;
      const int tag = dwarf_tag(scope);
      if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram) continue;
      frame.function = qualified_name(scope);
      if (frame.function.empty() && tag == DW_TAG_subprogram) frame.function = symbol_name(address);
      if (frame.function.empty()) frame.function = plain_name(scope);
      frames.push_back(frame);
      if (tag == DW_TAG_subprogram) break;
      frame = {};
      set_call_site(scope, unit, frame);
    }
    return frames;
  }

  std::unique_ptr<Dwfl, DwflDeleter> dwfl_;
  Dwfl_Module* module_ = nullptr;
  UnitRanges units_;
  GElf_Addr bias_ = 0;
};

}  // namespace

std::unique_ptr<ObjectSymbols> ObjectSymbols::open(const std::string& path,
                                                   std::string_view build_id) {
  auto symbols = std::make_unique<LibdwSymbols>();
  if (path.starts_with('/') && symbols->load(path) && symbols->has_build_id(build_id))
    return symbols;
  const bool plain_id = build_id.size() > 2 &&
                        build_id.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  if (!plain_id) return nullptr;
  const std::string debug_file = "/usr/lib/debug/.build-id/" + std::string(build_id.substr(0, 2)) +
                                 "/" + std::string(build_id.substr(2)) + ".debug";
  symbols = std::make_unique<LibdwSymbols>();
  if (symbols->load(debug_file) && symbols->has_build_id(build_id)) return symbols;
  return nullptr;
}

}  // namespace stallscope
