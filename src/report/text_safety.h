// Texts of a trace or a source file are somebody else's: these make them safe
// to stand in a page, a terminal or an XML file, and keep them readable.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace stallscope {

/// `text` with every invalid UTF-8 sequence replaced by U+FFFD.
std::string valid_utf8(std::string_view text);

/// Valid UTF-8 without control characters (a tab or line break becomes a space):
/// an escape sequence in a kernel name must not reach a terminal.
std::string one_line(std::string_view text);

/// For HTML and XML text and double-quoted attributes. Control characters that
/// XML forbids become U+FFFD; line breaks and tabs stay.
std::string escape_markup(std::string_view text);

/// What pages and files of markup show of a text from a trace: one line of it, escaped.
std::string escaped(std::string_view text);
/// "a, b, c", one line.
std::string joined(std::span<const std::string> names);

/// Makes serialised JSON safe inside a script element: `<`, U+2028 and U+2029
/// become \u escapes, which mean the same inside JSON strings.
std::string escape_json_for_script(std::string_view json);

/// The first `max_characters` of `text`, with an ellipsis when something is cut.
std::string shortened(std::string_view text, size_t max_characters);

/// A word quoted for a POSIX shell when it needs to be.
std::string shell_word(std::string_view word);

}  // namespace stallscope
