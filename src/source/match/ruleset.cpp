#include "source/match/ruleset.h"

#include <algorithm>

#include "base/file.h"

namespace stallscope {
namespace {

uint32_t language_bit(std::string_view language) {
  if (language == "python") return 1;
  if (language == "cpp") return 2;
  if (language == "cuda") return 4;
  return language == "config" ? 8 : 0;
}

uint32_t guard_bits(const std::vector<std::string>& words) {
  uint32_t bits = 0;
  for (const std::string& word : words) {
    for (const GuardWord& g : guard_words()) bits |= g.name == word ? +g.guard : 0u;
  }
  return bits;
}

std::string describe(const SourceClause& c) {
  std::string out = c.matcher + '\1' + c.on + '\1' + c.certainty + '\1' + c.file_has + '\1' +
                    c.file_lacks + '\1' + c.function_has + '\1' + c.own_lacks;
  auto list = [&](const std::vector<std::string>& words) {
    for (const std::string& w : words) out += '\2' + w;
    out += '\1';
  };
  for (const auto* words : {&c.languages, &c.calls, &c.patterns, &c.contexts, &c.unless, &c.lower,
                            &c.declares, &c.decorates})
    list(*words);
  for (const auto* tests : {&c.args, &c.settings}) {
    for (const ArgumentTest& test : *tests) {
      out += test.name;
      list(test.any_of);
    }
    out += '\1';
  }
  for (const auto& [name, kind] : c.where) out.append(name).append(1, '\2').append(kind);
  for (const NestedTest& n : c.nested) {
    out += n.relation + n.node;
    list(n.calls);
    list(n.patterns);
  }
  return out;
}

Result<std::vector<Pattern>> compile_patterns(const std::vector<std::string>& texts,
                                              Grammar grammar) {
  std::vector<Pattern> out;
  for (const std::string& text : texts) {
    auto pattern = Pattern::compile(text, grammar);
    if (!pattern) return pattern.error();
    out.push_back(std::move(pattern.value()));
  }
  return out;
}

}  // namespace

CallName call_name(std::string_view text) {
  CallName out;
  if (text.starts_with('.')) {
    out.method_only = true;
    text.remove_prefix(1);
  }
  if (text.ends_with(".*")) {
    out.prefix = true;
    text.remove_suffix(1);
  }
  out.path = text;
  out.dotted = text.find('.') != std::string_view::npos;
  if (!out.prefix) out.last = last_component(text);
  return out;
}

bool is_call_of(const FileView& file, NodeId node, const CallName& name) {
  if (file.ast[node].kind != NodeKind::call) return false;
  NodeId callee = file.ast.child(node, Role::callee);
  if (callee == kNoNode) return false;
  if (!name.dotted) {
    const bool attribute = file.ast[callee].kind == NodeKind::attribute;
    if (!attribute && file.ast[callee].kind != NodeKind::name) return false;
    if (file.ast[callee].text != name.last) return false;
    return !name.method_only || (attribute && !file.names.resolve(callee).imported);
  }
  // A plain name may be an import's alias.
  if (!name.prefix && file.ast[callee].kind == NodeKind::attribute &&
      file.ast[callee].text != name.last)
    return false;
  const std::string& path = file.names.resolve(callee).path;
  return name.prefix ? path.starts_with(name.path) : path == name.path;
}

bool rests_on_types(const CompiledClause& clause) {
  return clause.on || clause.matcher || !clause.where.empty() ||
         std::ranges::any_of(clause.calls, &CallName::method_only);
}

Result<RuleSet> RuleSet::compile(std::span<const SourceRule> rules) {
  RuleSet out;
  std::string text;
  for (const SourceRule& rule : rules) {
    if (!rule.condition) continue;
    out.rules_.push_back(rule);
    text += rule.id;
    uint32_t index = 0;
    for (const SourceClause& clause : rule.condition->any) {
      auto added = out.add(static_cast<uint32_t>(out.rules_.size() - 1), index++, clause);
      if (!added) {
        Error error = added.error();
        error.message = "rule " + rule.id + ": " + error.message;
        return error;
      }
      text += describe(clause);
    }
  }
  for (uint32_t c = 0; c < out.clauses_.size(); ++c) out.dispatch(c);
  out.digest_ = content_hash(text);
  return out;
}

Status RuleSet::add(uint32_t rule, uint32_t index, const SourceClause& clause) {
  CompiledClause out;
  out.rule = rule;
  out.index = index;
  out.clause = &clause;
  const auto& languages = clause.languages.empty() ? rules_[rule].languages : clause.languages;
  for (const std::string& language : languages) out.languages |= language_bit(language);
  if (languages.empty()) out.languages = 7;
  for (const std::string& call : clause.calls) out.calls.push_back(call_name(call));
  for (Grammar grammar : {Grammar::python, Grammar::cuda}) {
    if ((out.languages & (grammar == Grammar::python ? 1u : 6u)) == 0) continue;
    auto patterns = compile_patterns(clause.patterns, grammar);
    if (!patterns) return patterns.error();
    out.patterns[static_cast<size_t>(grammar)] = std::move(patterns.value());
  }
  if (!clause.matcher.empty()) {
    out.matcher = matcher_of(clause.matcher);
    if (!out.matcher) return Error{.message = "there is no matcher '" + clause.matcher + "'"};
  }
  if (!clause.on.empty()) out.on = kind_of(clause.on);
  if (clause.certainty == "unknown") out.certainty = Certainty::unknown;
  if (clause.certainty == "proven") out.certainty = Certainty::proven;
  out.own_device_buffers =
      std::ranges::find(clause.declares, kOwnDeviceBuffer) != clause.declares.end();
  out.unless = guard_bits(clause.unless);
  out.lower = guard_bits(clause.lower);
  for (const std::string& word : clause.contexts)
    out.contexts |= 1u << static_cast<unsigned>(*context_of(word));
  for (const auto& [name, kind] : clause.where) out.where[name] = kind_of(kind);
  for (const NestedTest& test : clause.nested) {
    CompiledNested nested;
    nested.test = &test;
    nested.inside = test.relation.ends_with("inside");
    nested.negated = test.relation.starts_with("not");
    for (const std::string& call : test.calls) nested.calls.push_back(call_name(call));
    for (Grammar grammar : {Grammar::python, Grammar::cuda}) {
      if ((out.languages & (grammar == Grammar::python ? 1u : 6u)) == 0) continue;
      auto patterns = compile_patterns(test.patterns, grammar);
      if (!patterns) return patterns.error();
      nested.patterns[static_cast<size_t>(grammar)] = std::move(patterns.value());
    }
    out.nested.push_back(std::move(nested));
  }
  // What must not be there makes a match no more specific.
  const auto demanded = std::ranges::count(out.nested, false, &CompiledNested::negated);
  out.specificity =
      static_cast<unsigned>(2 * static_cast<size_t>(demanded) + out.where.size() +
                            clause.args.size() + (out.on ? 1 : 0) + (out.matcher ? 1 : 0));
  clauses_.push_back(std::move(out));
  return ok_status();
}

void RuleSet::dispatch(uint32_t index) {
  const CompiledClause& clause = clauses_[index];
  auto once = [index](std::vector<uint32_t>& list) {
    if (list.empty() || list.back() != index) list.push_back(index);
  };
  for (const CallName& call : clause.calls) once(call.prefix ? any_call_ : by_call_[call.last]);
  for (const Grammar grammar : {Grammar::python, Grammar::cuda}) {
    const auto of = static_cast<size_t>(grammar);
    for (uint32_t p = 0; p < clause.patterns[of].size(); ++p) {
      const Pattern& pattern = clause.patterns[of][p];
      const std::string_view name = pattern.anchor_call();
      if (!name.empty()) {
        once(by_call_[std::string(name)]);
        continue;
      }
      auto& by_right = by_kind_[of][static_cast<size_t>(pattern.anchor())];
      by_right.resize(kKinds);
      for (size_t right = 0; right < kKinds; ++right) {
        if (pattern.right_kind() == NodeKind::other ||
            static_cast<size_t>(pattern.right_kind()) == right)
          by_right[right].push_back({index, p});
      }
    }
  }
  if (clause.matcher) once(by_matcher_);
  if (!clause.clause->declares.empty()) once(declaring_);
  if (!clause.clause->decorates.empty()) once(decorating_);
}

const std::vector<uint32_t>* RuleSet::by_call(std::string_view name) const {
  auto found = by_call_.find(name);
  return found == by_call_.end() ? nullptr : &found->second;
}

}  // namespace stallscope
