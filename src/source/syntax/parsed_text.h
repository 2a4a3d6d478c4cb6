// What the parser is given in place of a source: of the same length, without what is no code.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "source/syntax/ast.h"

namespace stallscope {

/// `source` with blanks for zero bytes (which the parser takes for the end), markers of conflicts,
/// what C++ has under `#if 0` or `#ifdef DEBUG`, and long runs of Python's comments (each of which
/// the parser reads again for every line of its run); `<< <` and `>> >` of a launch are joined.
/// Empty when there are none.
std::string parsed_text(std::string_view source, Grammar grammar);

/// Blanks what lies between two places of a text, but for the ends of lines: bytes and lines stay
/// where they are.
void blank(std::string& text, size_t first, size_t last);

/// The first line on which a merge left a marker of a conflict; 0 = none.
uint32_t conflict_line(std::string_view source);

}  // namespace stallscope
