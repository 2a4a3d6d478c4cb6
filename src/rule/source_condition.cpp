#include "rule/source_condition.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <utility>

#include "source/vocabulary.h"

namespace stallscope {
namespace {

using Words = std::vector<std::string>;

/// Reads one rule's conditions; the first error is kept and reading goes on without effect.
class Reader {
 public:
  explicit Reader(std::string file) : file_(std::move(file)) {}

  SourceClause clause(const YAML::Node& node) {
    SourceClause out;
    if (!node.IsMap()) {
      fail(node,
           "a source condition must be a map with `call`, `pattern`, `matcher` or `settings`");
      return out;
    }
    for (const auto& entry : node)
      key(out, entry.first.as<std::string>(""), entry.first, entry.second);
    if (out.calls.empty() && out.patterns.empty() && out.matcher.empty() && out.settings.empty() &&
        out.declares.empty()) {
      fail(node, "a source condition needs `call`, `pattern`, `matcher`, `declares` or `settings`");
    }
    return out;
  }

  void fail(const YAML::Node& node, std::string message) {
    if (failed_) return;
    failed_ = true;
    error_.message = std::move(message);
    error_.file = file_;
    error_.line = static_cast<uint64_t>(std::max(0, node.Mark().line)) + 1;
    error_.column = static_cast<uint64_t>(std::max(0, node.Mark().column)) + 1;
  }
  bool failed() const { return failed_; }
  const Error& error() const { return error_; }

 private:
  void key(SourceClause& out, const std::string& name, const YAML::Node& at,
           const YAML::Node& value) {
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
      out.matcher = value.as<std::string>("");
    } else if (name == "on") {
      out.on = kind(value);
    } else if (name == "certainty") {
      out.certainty = value.as<std::string>("");
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
      if (!value.IsMap())
        fail(value, "`where` must map metavariables to value kinds");
      else
        for (const auto& entry : value)
          out.where[entry.first.as<std::string>("")] = kind(entry.second);
    } else if (name == "inside" || name == "has" || name == "not-inside" || name == "not" ||
               name == "not-has") {
      nested(out, name == "not" ? "not-has" : name, value);
    } else if (name == "file-has" || name == "file-lacks") {
      (name == "file-has" ? out.file_has : out.file_lacks) = value.as<std::string>("");
    } else if (name == "declares") {
      out.declares = words(value);
    } else if (name == "function-has") {
      out.function_has = value.as<std::string>("");
    } else {
      fail(at, "unknown key '" + name + "' in a source condition");
    }
  }

  std::string kind(const YAML::Node& value) {
    std::string word = value.as<std::string>("");
    if (!kind_of(word)) fail(value, "unknown value kind '" + word + "'");
    return word;
  }

  std::vector<ArgumentTest> tests(const YAML::Node& value, const char* otherwise) {
    std::vector<ArgumentTest> out;
    if (!value.IsMap()) fail(value, otherwise);
    for (const auto& entry : value) {
      if (!value.IsMap()) break;
      ArgumentTest test;
      test.name = entry.first.as<std::string>("");
      std::string alternatives = entry.second.as<std::string>("");
      for (size_t at = 0; at <= alternatives.size();) {
        size_t bar = std::min(alternatives.find('|', at), alternatives.size());
        test.any_of.push_back(alternatives.substr(at, bar - at));
        at = bar + 1;
      }
      out.push_back(std::move(test));
    }
    return out;
  }

  void nested(SourceClause& out, const std::string& relation, const YAML::Node& value) {
    if (value.IsSequence()) {
      for (const auto& item : value) nested(out, relation, item);
      return;
    }
    NestedTest test;
    test.relation = relation;
    if (value.IsScalar()) {
      test.node = value.as<std::string>("");
    } else if (value.IsMap()) {
      for (const auto& entry : value) {
        const std::string name = entry.first.as<std::string>("");
        if (name == "call")
          test.calls = words(entry.second);
        else if (name == "pattern")
          test.patterns = words(entry.second);
        else if (name == "node")
          test.node = entry.second.as<std::string>("");
        else
          fail(entry.first, "unknown key '" + name + "' in `" + relation + "`");
      }
    } else {
      fail(value, "`" + relation + "` must be a node kind or a map with `call` or `pattern`");
    }
    out.nested.push_back(std::move(test));
  }

  Words words(const YAML::Node& value) {
    return words(value, [](std::string_view) { return true; }, "");
  }

  template <typename Known>
  Words words(const YAML::Node& value, Known known, std::string_view what) {
    Words out;
    auto add = [&](const YAML::Node& item) {
      if (!item.IsScalar()) return fail(item, "expected a word");
      out.push_back(item.as<std::string>(""));
      if (!known(out.back())) fail(item, "unknown " + std::string(what) + " '" + out.back() + "'");
    };
    if (value.IsSequence()) {
      for (const auto& item : value) add(item);
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

Result<std::shared_ptr<const SourceCondition>> parse_source_condition(const YAML::Node& node,
                                                                      const std::string& file) {
  auto condition = std::make_shared<SourceCondition>();
  Reader reader(file);
  try {
    if (node.IsSequence()) {
      for (const auto& item : node) condition->any.push_back(reader.clause(item));
    } else {
      condition->any.push_back(reader.clause(node));
    }
    if (condition->any.empty()) reader.fail(node, "`source` lists no condition");
  } catch (const YAML::Exception& exception) {
    reader.fail(node, exception.msg);
  }
  if (reader.failed()) return reader.error();
  return std::shared_ptr<const SourceCondition>(std::move(condition));
}

}  // namespace stallscope
