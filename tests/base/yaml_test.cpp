// YAML as read: kinds of values, places, the text as written, and what is refused.
#include <doctest/doctest.h>

#include "base/yaml.h"

using namespace stallscope;

namespace {

YamlNode read(std::string_view text) {
  auto node = read_yaml(text, "a.yml");
  REQUIRE_MESSAGE(node.ok(), (node ? "" : node.error().to_string()));
  return *node;
}

std::string refused(std::string_view text) {
  const auto node = read_yaml(text, "a.yml");
  REQUIRE_FALSE(node.ok());
  return node.error().to_string();
}

}  // namespace

TEST_CASE("values are texts, lists, maps and nothing") {
  const YamlNode root = read("a: text\nb: [1, 'two']\nc: {d: ~}\ne:\nf: ''\ng: 'null'\na: again\n");
  CHECK(root.is_map());
  CHECK(root["a"].text() == "text");  // the first
  CHECK(root.entries().size() == 7);
  const auto items = root["b"].items();
  REQUIRE(items.size() == 2);
  CHECK(items[1].text() == "two");
  CHECK(items[0].items().empty());
  CHECK(root["c"]["d"].is_null());
  CHECK(root["e"].is_null());
  CHECK_FALSE(root["e"].is_text());
  CHECK(root["f"].is_text());
  CHECK(root["g"].text() == "null");
  CHECK(root["g"].is_text());
  CHECK_FALSE(root["none"]);
  CHECK(root["none"].text().empty());
  CHECK_FALSE(root["none"]["deeper"]);
  CHECK(root["none"].line() == 0);
}

TEST_CASE("places count from one, characters of any width as one") {
  const YamlNode root = read("\xEF\xBB\xBF# ü\nä: {ö: x}\n");
  CHECK(root.line() == 2);
  CHECK(root["ä"]["ö"].column() == 8);
  CHECK(read("").line() == 0);
  CHECK_FALSE(read("# only a comment\n"));
}

TEST_CASE("a value's text comes back as it was written") {
  const YamlNode root =
      read("ü: 1\na:\n  - x: 'y'  # why\n\n    z: [ä,\n        b]\n  - w\n\n\nc: {d: e}\n");
  CHECK(root["a"].written() == "- x: 'y'  # why\n\n  z: [ä,\n      b]\n- w");
  CHECK(root["c"].written() == "{d: e}");
  CHECK(root["none"].written().empty());
}

TEST_CASE("what is no single document of UTF-8 is refused with its place") {
  CHECK(refused("a: 1\n---\nb: 2\n").starts_with("a.yml:2:1: file holds more than one document"));
  CHECK(refused("a: 1\nb: \"x\n").starts_with("a.yml:2:6: not valid YAML: "));
  CHECK(refused("a: 1\nbc: \xff\n").starts_with("a.yml:2:5: not valid YAML: "));
  CHECK(refused("a: *b\n").starts_with("a.yml:1:4: not valid YAML: "));
  CHECK(refused(std::string(100'000, '[')).starts_with("a.yml:1:"));
  const YamlNode loop = read("a: &a [*a]\n");
  CHECK(loop["a"].items().front().items().front().is_list());
}
