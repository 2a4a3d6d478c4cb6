// Cache of FileFacts, keyed by a file's bytes, its path, the rules and the tool.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "source/facts/facts.h"

namespace stallscope {

/// The facts stored for these bytes, or null. A damaged entry counts as none.
std::unique_ptr<FileFacts> cached_facts(const std::string& folder, const std::string& path,
                                        std::string_view bytes, const std::string& rules_digest);
/// Stores them; failing to is not an error.
void store_facts(const std::string& folder, const std::string& path, std::string_view bytes,
                 const std::string& rules_digest, const FileFacts& facts);

}  // namespace stallscope
