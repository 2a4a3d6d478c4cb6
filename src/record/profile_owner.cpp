#include "record/profile_owner.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>

#include "trace/segment_format.h"

namespace stallscope {
namespace {

namespace fs = std::filesystem;

std::optional<int64_t> number_at(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  return number;
}

/// The number behind the key of a JSON object, as profilers write it.
std::optional<int64_t> number_of(std::string_view text, std::string_view key) {
  const size_t at = text.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  const size_t value = text.find_first_not_of(": \t\r\n", at + key.size());
  return value == std::string_view::npos ? std::nullopt : number_at(text.substr(value));
}

int64_t process_of_rank(int64_t rank, const std::map<int64_t, int32_t>& recorded) {
  const auto found =
      std::ranges::find_if(recorded, [rank](const auto& each) { return each.second == rank; });
  return rank < 0 || found == recorded.end() ? 0 : found->first;
}

}  // namespace

std::map<int64_t, int32_t> recorded_processes(const std::string& recording_folder) {
  std::map<int64_t, int32_t> recorded;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(recording_folder, error)) {
    if (entry.path().extension() != segment::kFileSuffix) continue;
    segment::FileHeader header = {};
    std::ifstream file(entry.path(), std::ios::binary);
    if (file.read(reinterpret_cast<char*>(&header), sizeof header) &&
        header.magic == segment::kMagic)
      recorded.emplace(header.pid, header.rank);
  }
  return recorded;
}

int64_t owner_of_profile(std::string_view name, std::string_view text,
                         const std::map<int64_t, int32_t>& recorded) {
  for (size_t at = 0; at < name.size();) {
    const auto begin = std::find_if(name.begin() + static_cast<ptrdiff_t>(at), name.end(),
                                    [](unsigned char c) { return std::isdigit(c) != 0; });
    const auto end =
        std::find_if(begin, name.end(), [](unsigned char c) { return std::isdigit(c) == 0; });
    const std::optional<int64_t> number = number_at(std::string_view(begin, end));
    // Small numbers are ranks and counts.
    constexpr int64_t kLeast = 64;
    if (number && *number >= kLeast && recorded.contains(*number)) return *number;
    at = static_cast<size_t>(end - name.begin());
  }
  if (const size_t info = text.find("\"distributedInfo\""); info != std::string_view::npos) {
    const std::string_view object = text.substr(info, text.find('}', info) - info);
    if (const std::optional<int64_t> rank = number_of(object, "\"rank\""))
      if (const int64_t process = process_of_rank(*rank, recorded)) return process;
  }
  constexpr std::string_view kProcess = "\"pid\"";
  for (size_t at = text.find(kProcess); at != std::string_view::npos;
       at = text.find(kProcess, at + 1)) {
    // Rows of a device carry its number instead.
    constexpr int64_t kMostDevices = 64;
    const std::optional<int64_t> number = number_of(text.substr(at), kProcess);
    if (number && *number >= kMostDevices && recorded.contains(*number)) return *number;
  }
  if (const size_t rank = name.find("rank"); rank != std::string_view::npos) {
    const size_t digits = name.find_first_not_of("-_.=", rank + 4);
    if (digits != std::string_view::npos)
      if (const std::optional<int64_t> number = number_at(name.substr(digits)))
        return process_of_rank(*number, recorded);
  }
  return 0;
}

}  // namespace stallscope
