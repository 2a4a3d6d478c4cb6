// What an editor has open: a file, or a notebook, whose cells are documents of
// their own to the editor and one text to the analysis.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "cli/lint_engine.h"

namespace stallscope {

/// A file, or one cell of a notebook.
struct LspPart {
  std::string uri, text;
  bool code = true;         ///< else a cell of prose
  uint32_t first_line = 0;  ///< 0-based, in the text of the whole document
  size_t first_byte = 0;
};

struct LspDocument {
  std::string path;
  bool notebook = false;
  std::vector<LspPart> parts;
  Linted linted;  ///< findings of the text as it was linted last

  /// All code as one text, and where each part begins in it.
  std::string lay_out();
  /// The document as it would lie on disk.
  std::string as_file() const;
  LspPart* part(std::string_view uri);
  /// The part that holds a line (1-based) of the whole text; null when none does.
  const LspPart* part_at(uint32_t line) const;
};

/// Applies a content change of the protocol, of a range or of the whole text.
void apply_change(std::string& text, const nlohmann::json& change);

/// What a part's text becomes when the whole text changes from `before` to
/// `after` within this part.
std::string part_after(const LspPart& part, std::string_view before, std::string_view after);

/// Length of a line in the units of the protocol's positions.
uint32_t utf16_length(std::string_view text);

}  // namespace stallscope
