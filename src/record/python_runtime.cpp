#include "record/python_runtime.h"

#include <fcntl.h>
#include <gelf.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "record/remote_memory.h"

namespace stallscope {
namespace {

namespace fs = std::filesystem;

/// A file that may be the interpreter, and where it is mapped.
struct Candidate {
  std::string path;
  uint64_t base = 0;  ///< address of the mapping of file offset 0
};

/// "python3.11", "libpython3.11.so.1.0", "python3", "python".
bool is_interpreter_name(std::string_view name) {
  if (name.starts_with("lib")) name.remove_prefix(3);
  constexpr std::string_view kPython = "python";
  if (!name.starts_with(kPython)) return false;
  name.remove_prefix(kPython.size());
  return name.empty() || name[0] == '3' || name.starts_with(".so");
}

std::vector<Candidate> candidates(pid_t pid) {
  std::vector<Candidate> found;
  std::ifstream maps("/proc/" + std::to_string(pid) + "/maps");
  for (std::string line; std::getline(maps, line);) {
    const size_t slash = line.find('/');
    if (slash == std::string::npos) continue;
    const std::string path = line.substr(slash);
    if (!is_interpreter_name(fs::path(path).filename().string())) continue;
    // "begin-end perms offset dev inode path"
    uint64_t begin = 0, offset = 1;
    const size_t dash = line.find('-'), perms = line.find(' ');
    if (dash == std::string::npos || perms == std::string::npos || perms + 6 > line.size())
      continue;
    std::from_chars(line.data(), line.data() + dash, begin, 16);
    const size_t offset_at = perms + 6;
    std::from_chars(line.data() + offset_at, line.data() + line.size(), offset, 16);
    if (offset != 0) continue;
    if (found.empty() || found.back().path != path) found.push_back({path, begin});
  }
  return found;
}

struct ElfDeleter {
  void operator()(Elf* elf) const { elf_end(elf); }
};

struct Symbols {
  uint64_t runtime = 0, version = 0;  ///< addresses in the process; 0 = not there
};

/// Reads the dynamic symbols of the file as the process sees it.
std::optional<Symbols> read_symbols(pid_t pid, const Candidate& candidate) {
  elf_version(EV_CURRENT);
  const std::string path = "/proc/" + std::to_string(pid) + "/root" + candidate.path;
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return std::nullopt;
  const std::unique_ptr<Elf, ElfDeleter> elf(elf_begin(fd, ELF_C_READ_MMAP, nullptr));
  ::close(fd);
  GElf_Ehdr header;
  if (!elf || gelf_getehdr(elf.get(), &header) == nullptr) return std::nullopt;
  uint64_t lowest = ~0ULL;
  for (size_t i = 0; i < header.e_phnum; ++i) {
    GElf_Phdr segment;
    if (gelf_getphdr(elf.get(), static_cast<int>(i), &segment) != nullptr &&
        segment.p_type == PT_LOAD && segment.p_vaddr < lowest)
      lowest = segment.p_vaddr;
  }
  const uint64_t bias = candidate.base - (lowest == ~0ULL ? 0 : lowest);
  Symbols symbols;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf.get(), section)) != nullptr;) {
    GElf_Shdr shape;
    if (gelf_getshdr(section, &shape) == nullptr || shape.sh_type != SHT_DYNSYM ||
        shape.sh_entsize == 0)
      continue;
    Elf_Data* data = elf_getdata(section, nullptr);
    const uint64_t count = shape.sh_size / shape.sh_entsize;
    for (uint64_t i = 0; data != nullptr && i < count; ++i) {
      GElf_Sym symbol;
      if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr) break;
      if (symbol.st_shndx == SHN_UNDEF) continue;
      const char* name = elf_strptr(elf.get(), shape.sh_link, symbol.st_name);
      if (name == nullptr) continue;
      if (std::strcmp(name, "_PyRuntime") == 0) symbols.runtime = symbol.st_value + bias;
      if (std::strcmp(name, "Py_Version") == 0) symbols.version = symbol.st_value + bias;
    }
  }
  return symbols;
}

/// (major, minor) from Py_Version (3.11 and later), else from the file's name.
std::optional<std::pair<int, int>> version_of(const RemoteMemory& memory, const Symbols& symbols,
                                              const std::string& path) {
  if (const std::optional<uint64_t> hex = memory.get<uint64_t>(symbols.version))
    return std::pair(static_cast<int>(*hex >> 24), static_cast<int>(*hex >> 16 & 0xff));
  std::error_code error;
  for (const fs::path& file : {fs::path(path), fs::canonical(path, error)}) {
    const std::string name = file.filename().string();
    const size_t at = name.find("python3.");
    if (at == std::string::npos) continue;
    int minor = -1;
    std::from_chars(name.data() + at + 8, name.data() + name.size(), minor);
    if (minor >= 0) return std::pair(3, minor);
  }
  return std::nullopt;
}

/// A build without the interpreter's lock moves frames and reference counts about.
bool is_free_threaded(const RemoteMemory& memory, uint64_t runtime) {
  char cookie[sizeof kDebugCookie - 1];
  return memory.read(runtime, cookie, sizeof cookie) &&
         std::memcmp(cookie, kDebugCookie, sizeof cookie) == 0 &&
         memory.get<uint64_t>(runtime + kDebugFreeThreaded).value_or(0) != 0;
}

/// False for a process that has ended, or become another program, since it was looked at.
bool is_mapped(pid_t pid, const Candidate& candidate) {
  return std::ranges::any_of(candidates(pid), [&](const Candidate& now) {
    return now.path == candidate.path && now.base == candidate.base;
  });
}

PythonSearch unreadable(std::string reason) {
  return {.presence = PythonPresence::unreadable, .runtime = {}, .reason = std::move(reason)};
}

}  // namespace

PythonSearch find_python(pid_t pid) {
  const RemoteMemory memory(pid);
  for (const Candidate& candidate : candidates(pid)) {
    const std::optional<Symbols> symbols = read_symbols(pid, candidate);
    if (!symbols || symbols->runtime == 0) continue;  // a small program beside libpython
    const std::optional<std::pair<int, int>> version = version_of(memory, *symbols, candidate.path);
    if (!memory.get<uint64_t>(symbols->runtime)) {
      if (!is_mapped(pid, candidate)) return {};
      return unreadable("the process's memory cannot be read (see `stallscope doctor`)");
    }
    if (!version) return unreadable("the version of " + candidate.path + " is not known");
    const std::string text = std::to_string(version->first) + "." + std::to_string(version->second);
    const PythonLayout* layout = python_layout(version->first, version->second);
    if (layout == nullptr)
      return unreadable("CPython " + text + " is not one whose stacks can be read (3.8 to 3.14)");
    if (layout->minor >= 13 && is_free_threaded(memory, symbols->runtime))
      return unreadable("CPython " + text +
                        " is a free-threaded build, whose stacks cannot be read");
    return {.presence = PythonPresence::found,
            .runtime = {.layout = layout, .runtime = symbols->runtime, .version = text},
            .reason = {}};
  }
  return {};
}

}  // namespace stallscope
