#include "source/facts/cache_entry.h"

#include "base/file.h"

namespace stallscope {

std::optional<std::string> stored_entry(const std::string& path) {
  auto stored = read_file(path);
  if (!stored) return std::nullopt;
  const size_t hash = content_hash({}).size();
  const std::string_view entry = *stored;
  if (entry.size() < hash || content_hash(entry.substr(hash)) != entry.substr(0, hash))
    return std::nullopt;
  return std::string(entry.substr(hash));
}

void store_entry(const std::string& path, std::string_view bytes) {
  (void)write_file(path, content_hash(bytes) + std::string(bytes)).ok();
}

}  // namespace stallscope
