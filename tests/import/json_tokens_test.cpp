#include "import/json_tokens.h"

#include <doctest/doctest.h>

#include <string>

using namespace stallscope;

namespace {

/// Tokens over a text of their own, padded as they want it.
struct Walk {
  std::string text;
  JsonTokens tokens;
  bool good;
  explicit Walk(std::string_view json) : text(json) {
    text.append(kParsePadding, '"');  // what lies behind must not be read as if it belonged
    good = tokens.index({text.data(), json.size()});
  }
  /// The first scalar; "!" when it is malformed.
  std::string scalar() {
    std::string_view value;
    return good && tokens.scalar(value) ? std::string(value) : "!";
  }
};

}  // namespace

TEST_CASE("scalars are as written, strings decoded") {
  struct Case {
    const char *json, *text;
  };
  for (const Case& c : {
           Case{"12", "12"},
           {"-1.5e3 ", "-1.5e3"},
           {"null", "null"},
           {R"("")", ""},
           {R"("plain")", "plain"},
           {R"("plain"  )", "plain"},
           {R"("a\"b\\c\/\b\f\n\r\t")", "a\"b\\c/\b\f\n\r\t"},
           {R"("\u0041\u00e9\u20AC")", "A\xC3\xA9\xE2\x82\xAC"},
           {R"("\ud83d\ude00")", "\xF0\x9F\x98\x80"},
           {R"("\ud83d")", "!"},
           {R"("\ud83dx")", "!"},
           {R"("\ude00")", "!"},
           {R"("\u12")", "!"},
           {R"("\uzzzz")", "!"},
           {R"("\x")", "!"},
           {"\"\\", "!"},
           {"\"open", "!"},
           {"", "!"},
           {"\"raw\ncontrol\"", "!"},
           {"\"\xff\"", "!"},
       }) {
    CAPTURE(c.json);
    CHECK(Walk(c.json).scalar() == c.text);
  }
}

TEST_CASE("a walk through an object and what ends it too early") {
  Walk walk(R"({"a": [1, {"b": "]"}], "c": {"d": 2}, "e": "f"} )");
  REQUIRE(walk.good);
  JsonTokens& tokens = walk.tokens;
  std::string_view text;
  CHECK(tokens.peek() == '{');
  tokens.next();
  REQUIRE(tokens.key(text));
  CHECK(text == "a");
  REQUIRE(tokens.structure(text));
  CHECK(text == R"([1, {"b": "]"}])");
  CHECK(tokens.peek() == ',');
  tokens.next();
  REQUIRE(tokens.key(text));
  REQUIRE(tokens.skip());
  tokens.next();
  REQUIRE(tokens.key(text));
  CHECK(text == "e");
  REQUIRE(tokens.skip());
  CHECK(tokens.peek() == '}');
  tokens.next();
  CHECK(tokens.peek() == '\0');
  CHECK(tokens.position() ==
        std::string_view(R"({"a": [1, {"b": "]"}], "c": {"d": 2}, "e": "f"} )").size());
  CHECK_FALSE(tokens.scalar(text));
  CHECK_FALSE(tokens.key(text));
  CHECK_FALSE(tokens.skip());

  for (const char* broken : {"[1, [2]", "{\"a\": {", "["}) {
    Walk open(broken);
    CAPTURE(broken);
    CHECK((!open.good || !open.tokens.skip()));
  }
  for (const char* broken : {"\"a\" 1", "\"a\"", "a: 1", ": 1"}) {
    Walk key(broken);
    CAPTURE(broken);
    CHECK((!key.good || !key.tokens.key(text)));
  }
}
