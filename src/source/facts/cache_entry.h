// Entries of the caches: files of bytes that know whether they are still what was written.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace stallscope {

/// What is stored at `path`; none when there is nothing, or it is damaged. (Entries hold numbers of
/// other things: one that is another number is not seen by its layout.)
std::optional<std::string> stored_entry(const std::string& path);

/// Stores `bytes` at `path`, if that can be done.
void store_entry(const std::string& path, std::string_view bytes);

}  // namespace stallscope
