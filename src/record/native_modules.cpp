#include "record/native_modules.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string_view>

namespace stallscope {
namespace {

/// One line of /proc/PID/maps.
struct Mapping {
  uint64_t begin = 0, end = 0, offset = 0;
  bool executable = false;
  std::string path;
};

bool parse_mapping(const std::string& line, Mapping& out) {
  // "begin-end perms offset dev inode path"
  const char* const end = line.data() + line.size();
  auto number = std::from_chars(line.data(), end, out.begin, 16);
  if (number.ec != std::errc() || number.ptr == end || *number.ptr != '-') return false;
  number = std::from_chars(number.ptr + 1, end, out.end, 16);
  if (number.ec != std::errc() || end - number.ptr < 6) return false;
  out.executable = number.ptr[3] == 'x';
  number = std::from_chars(number.ptr + 6, end, out.offset, 16);
  const size_t slash = line.find('/', static_cast<size_t>(number.ptr - line.data()));
  if (number.ec != std::errc() || slash == std::string::npos) return false;
  out.path = line.substr(slash);
  return true;
}

bool is_c_library(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  for (const std::string_view known : {"libc.so", "libc-2", "libpthread", "ld-linux", "ld-2"})
    if (name.starts_with(known)) return true;
  return false;
}

}  // namespace

const NativeModule* NativeModules::find(uint64_t address, Ns now) {
  const auto look = [&]() -> const NativeModule* {
    const auto it = by_end_.upper_bound(address);
    return it != by_end_.end() && address >= it->second->begin ? it->second : nullptr;
  };
  const NativeModule* found = look();
  // Code that was compiled at run time belongs to no object: it is not asked about every time.
  constexpr Ns kPause = 1'000'000'000;
  if (found == nullptr && now >= next_read_) {
    read_maps();
    next_read_ = now + kPause;
    found = look();
  }
  return found;
}

void NativeModules::read_maps() {
  std::ifstream maps("/proc/" + std::to_string(pid_) + "/maps");
  std::vector<Mapping> code;
  std::string interpreter;
  for (std::string line; std::getline(maps, line);) {
    Mapping mapping;
    if (!parse_mapping(line, mapping)) continue;
    // Its data may lie in the pages without a file that follow the file's.
    if (runtime_ >= mapping.begin) interpreter = mapping.path;
    if (mapping.executable) code.push_back(std::move(mapping));
  }
  std::map<uint64_t, const NativeModule*> before;
  before.swap(by_end_);
  size_t kept = 0;
  for (const Mapping& mapping : code) {
    if (const auto known = before.find(mapping.end); known != before.end() &&
                                                     known->second->begin == mapping.begin &&
                                                     known->second->path == mapping.path) {
      by_end_.insert(*known);
      ++kept;
      continue;
    }
    auto& object = objects_[mapping.path];
    if (!object)
      object = ObjectFile::open("/proc/" + std::to_string(pid_) + "/root" + mapping.path);
    NativeModule module{
        .path = mapping.path, .object = object.get(), .begin = mapping.begin, .end = mapping.end};
    if (object) module.bias = mapping.begin - object->address_of_offset(mapping.offset);
    if (mapping.path == interpreter)
      module.role = NativeModule::Role::interpreter;
    else if (is_c_library(mapping.path))
      module.role = NativeModule::Role::c_library;
    modules_.push_back(std::make_unique<NativeModule>(std::move(module)));
    by_end_.emplace(mapping.end, modules_.back().get());
  }
  if (kept < before.size()) ++generation_;
}

}  // namespace stallscope
