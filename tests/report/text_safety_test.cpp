#include "report/text_safety.h"

#include <doctest/doctest.h>

#include "report/findings_format.h"

using namespace stallscope;

TEST_CASE("invalid UTF-8 is replaced, valid text stays") {
  const std::pair<const char*, const char*> cases[] = {
      {"plain", "plain"},
      {"\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x94\xA5", "\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x94\xA5"},
      {"\xFF", "\xEF\xBF\xBD"},
      {"a\xC3", "a\xEF\xBF\xBD"},                                // cut short
      {"\xC0\xAF", "\xEF\xBF\xBD\xEF\xBF\xBD"},                  // overlong
      {"\xED\xA0\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},  // surrogate
  };
  for (const auto& [text, expected] : cases) CHECK(valid_utf8(text) == expected);
}

TEST_CASE("control characters never reach a terminal") {
  CHECK(one_line("a\x1b[31mb\n\tc\x07") == "a\xEF\xBF\xBD[31mb  c\xEF\xBF\xBD");
  CHECK(one_line("\xC2\x9B"
                 "31m") ==
        "\xEF\xBF\xBD"
        "31m");  // CSI as one C1 character
}

TEST_CASE("markup stays text") {
  CHECK(escape_markup("<img src=\"x\" onerror='y'>&") ==
        "&lt;img src=&quot;x&quot; onerror=&#39;y&#39;&gt;&amp;");
  CHECK(escape_markup("a\nb\x01") == "a\nb\xEF\xBF\xBD");
}

TEST_CASE("embedded JSON cannot end its script element") {
  CHECK(escape_json_for_script("\"</script><!--\xE2\x80\xA8\xE2\x80\xA9\"") ==
        "\"\\u003c/script>\\u003c!--\\u2028\\u2029\"");
}

TEST_CASE("words for a shell") {
  const std::pair<const char*, const char*> cases[] = {{"train.py", "train.py"},
                                                       {"a b", "'a b'"},
                                                       {"", "''"},
                                                       {"it's", "'it'\\''s'"},
                                                       {"$(rm)", "'$(rm)'"}};
  for (const auto& [word, expected] : cases) CHECK(shell_word(word) == expected);
}

TEST_CASE("shortening counts characters, not bytes") {
  CHECK(shortened("\xC3\xA9\xC3\xA9\xC3\xA9", 2) == "\xC3\xA9\xC3\xA9\xE2\x80\xA6");
  CHECK(shortened("abc", 3) == "abc");
}

TEST_CASE("paths become URI references") {
  const std::pair<const char*, const char*> cases[] = {{"src/a.cpp", "src/a.cpp"},
                                                       {"./src/a b.cpp", "src/a%20b.cpp"},
                                                       {"/abs/x.py", "file:///abs/x.py"},
                                                       {"dir\\x.py", "dir/x.py"},
                                                       {"a<b>.py", "a%3Cb%3E.py"}};
  for (const auto& [path, expected] : cases) CHECK(file_uri(path) == expected);
}
