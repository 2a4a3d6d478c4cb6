// Whole files in and out, with errors that name the file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace stallscope {

/// The bytes of a regular file. A file larger than `limit` bytes is an error.
Result<std::string> read_file(const std::string& path, uint64_t limit = 1ULL << 30);

/// Writes `content` beside `path` and renames it into place, so that a reader
/// never sees half a file. Creates no folders.
Status write_file(const std::string& path, std::string_view content);

/// 64-bit FNV-1a of `bytes` as 16 hexadecimal digits: names a file's content.
std::string content_hash(std::string_view bytes);

}  // namespace stallscope
