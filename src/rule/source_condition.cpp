#include "rule/source_condition.h"

#include <algorithm>
#include <utility>

#include "base/yaml.h"
#include "source/facts/vocabulary.h"

namespace stallscope {
namespace {

using Words = std::vector<std::string>;

/// Reads one rule's conditions; the first error is kept and reading goes on without effect.
class Reader {
 public:
  explicit Reader(std::string file) : file_(std::move(file)) {}

  SourceClause clause(const YamlNode& node) {
    SourceClause out;
    if (!node.is_map()) {
      fail(node,
           "a source condition must be a map with `call`, `pattern`, `matcher` or `settings`");
      return out;
    }
    for (const YamlEntry& entry : node.entries())
      key(out, entry.key.text(), entry.key, entry.value);
    if (out.calls.empty() && out.patterns.empty() && out.matcher.empty() && out.settings.empty() &&
        out.declares.empty() && out.decorates.empty()) {
      fail(node,
           "a source condition needs `call`, `pattern`, `matcher`, `declares`, `decorates` or "
           "`settings`");
    }
    return out;
  }

  void fail(const YamlNode& node, std::string message) {
    if (failed_) return;
    failed_ = true;
    error_.message = std::move(message);
    error_.file = file_;
    error_.line = node.line();
    error_.column = node.column();
  }
  bool failed() const { return failed_; }
  const Error& error() const { return error_; }

 private:
  void key(SourceClause& out, const std::string& name, const YamlNode& at, const YamlNode& value) {
    if (name == "languages") {
      out.languages = words(
          value,
          [](std::string_view w) {
            return w == "python" || w == "cpp" || w == "cuda" || w == "config";
          },
          "language");
    } else if (name == "call") {
      out.calls = words(value);
    } else if (name == "pattern") {
      out.patterns = words(value);
    } else if (name == "matcher") {
      out.matcher = value.text();
    } else if (name == "on") {
      out.on = kind(value);
    } else if (name == "certainty") {
      out.certainty = value.text();
      if (out.certainty != "unknown" && out.certainty != "likely" && out.certainty != "proven") {
        fail(value, "certainty must be unknown, likely or proven");
      }
    } else if (name == "context") {
      out.contexts =
          words(value, [](std::string_view w) { return context_of(w).has_value(); }, "context");
    } else if (name == "unless" || name == "lower") {
      (name == "unless" ? out.unless : out.lower) = words(
          value,
          [](std::string_view w) {
            return std::ranges::any_of(guard_words(),
                                       [w](const GuardWord& g) { return g.name == w; });
          },
          "guard");
    } else if (name == "args") {
      out.args = tests(value, "`args` must map an argument to what it must be");
    } else if (name == "settings") {
      out.settings = tests(value, "`settings` must map a setting to what it must be");
    } else if (name == "where") {
      if (!value.is_map())
        fail(value, "`where` must map metavariables to value kinds");
      else
        for (const YamlEntry& entry : value.entries())
          out.where[entry.key.text()] = kind(entry.value);
    } else if (name == "inside" || name == "has" || name == "not-inside" || name == "not" ||
               name == "not-has") {
      nested(out, name == "not" ? "not-has" : name, value);
    } else if (name == "file-has" || name == "file-lacks") {
      (name == "file-has" ? out.file_has : out.file_lacks) = value.text();
    } else if (name == "declares") {
      out.declares = words(value);
    } else if (name == "decorates") {
      out.decorates = words(value);
    } else if (name == "function-has") {
      out.function_has = value.text();
    } else if (name == "own-lacks") {
      out.own_lacks = value.text();
    } else if (name == "weak") {
      out.weak = value.text() == "true";
      if (!out.weak) fail(value, "`weak` can only be true");
    } else {
      fail(at, "unknown key '" + name + "' in a source condition");
    }
  }

  std::string kind(const YamlNode& value) {
    std::string word = value.text();
    if (!kind_of(word)) fail(value, "unknown value kind '" + word + "'");
    return word;
  }

  std::vector<ArgumentTest> tests(const YamlNode& value, const char* otherwise) {
    std::vector<ArgumentTest> out;
    if (!value.is_map()) fail(value, otherwise);
    for (const YamlEntry& entry : value.entries()) {
      if (!value.is_map()) break;
      ArgumentTest test;
      test.name = entry.key.text();
      std::string alternatives = entry.value.text();
      for (size_t at = 0; at <= alternatives.size();) {
        size_t bar = std::min(alternatives.find('|', at), alternatives.size());
        test.any_of.push_back(alternatives.substr(at, bar - at));
        at = bar + 1;
      }
      out.push_back(std::move(test));
    }
    return out;
  }

  void nested(SourceClause& out, const std::string& relation, const YamlNode& value) {
    if (value.is_list()) {
      for (const YamlNode& item : value.items()) nested(out, relation, item);
      return;
    }
    NestedTest test;
    test.relation = relation;
    if (value.is_text()) {
      test.node = value.text();
    } else if (value.is_map()) {
      for (const YamlEntry& entry : value.entries()) {
        const std::string name = entry.key.text();
        if (name == "call")
          test.calls = words(entry.value);
        else if (name == "pattern")
          test.patterns = words(entry.value);
        else if (name == "node")
          test.node = entry.value.text();
        else
          fail(entry.key, "unknown key '" + name + "' in `" + relation + "`");
      }
    } else {
      fail(value, "`" + relation + "` must be a node kind or a map with `call` or `pattern`");
    }
    out.nested.push_back(std::move(test));
  }

  Words words(const YamlNode& value) {
    return words(value, [](std::string_view) { return true; }, "");
  }

  template <typename Known>
  Words words(const YamlNode& value, Known known, std::string_view what) {
    Words out;
    auto add = [&](const YamlNode& item) {
      if (!item.is_text()) return fail(item, "expected a word");
      out.push_back(item.text());
      if (!known(out.back())) fail(item, "unknown " + std::string(what) + " '" + out.back() + "'");
    };
    if (value.is_list()) {
      for (const YamlNode& item : value.items()) add(item);
    } else {
      add(value);
    }
    return out;
  }

  std::string file_;
  bool failed_ = false;
  Error error_;
};

}  // namespace

Result<std::shared_ptr<const SourceCondition>> parse_source_condition(const YamlNode& node,
                                                                      const std::string& file) {
  auto condition = std::make_shared<SourceCondition>();
  Reader reader(file);
  if (node.is_list()) {
    for (const YamlNode& item : node.items()) condition->any.push_back(reader.clause(item));
  } else {
    condition->any.push_back(reader.clause(node));
  }
  if (condition->any.empty()) reader.fail(node, "`source` lists no condition");
  if (reader.failed()) return reader.error();
  return std::shared_ptr<const SourceCondition>(std::move(condition));
}

}  // namespace stallscope
