#include "source/match/made_objects.h"

#include <algorithm>

#include "source/facts/value.h"
#include "source/names/names.h"
#include "source/names/roles.h"
#include "source/syntax/words.h"
#include "source/values/apis.h"

namespace stallscope {
namespace {

using K = NodeKind;

constexpr std::string_view kOpening = "([{", kClosing = ")]}";

/// From the first bracket on, without what follows the last one.
std::string_view bracketed(std::string_view text) {
  const size_t open = text.find_first_of("({");
  const size_t close = text.find_last_of(")}");
  return open < close && close != std::string_view::npos ? text.substr(open, close - open + 1)
                                                         : std::string_view();
}

}  // namespace

uint8_t MadeObject::given() const {
  int depth = 0;
  uint8_t count = 0;
  bool any = false;
  for (const char c : arguments) {
    if (kClosing.find(c) != std::string_view::npos) --depth;
    if (depth > 0 && c != ' ' && c != '\n') any = true;
    if (kOpening.find(c) != std::string_view::npos) ++depth;
    if (c == ',' && depth == 1 && count < kAnyArguments - 2) ++count;
    if (c == ';') break;
  }
  return any ? count + 1 : 0;
}

std::optional<MadeObject> object_made_by(const Ast& ast, NodeId expression) {
  const std::string_view text = ast.slice(expression);
  if (ast[expression].kind == K::other) {
    if (!text.starts_with("new ")) return {};
    const std::string_view type = text.substr(4, text.find_first_of("([{") - 4);
    if (text.substr(4 + type.size()).starts_with('[')) return {};
    const std::string_view name = declared_class(type);
    if (name.empty()) return {};
    return MadeObject{name, bracketed(text.substr(4 + type.size()))};
  }
  const NodeId callee =
      ast[expression].kind == K::call ? ast.child(expression, Role::callee) : kNoNode;
  if (callee == kNoNode) return {};
  const std::string_view called = ast.slice(callee);
  const std::string_view arguments = bracketed(text.substr(std::min(called.size(), text.size())));
  if (const std::string_view name = made_class(ast, callee); !name.empty())
    return MadeObject{name, arguments};
  if (ast[callee].kind != K::name || !is_class_like(ast[callee].text)) return {};
  return MadeObject{ast[callee].text, arguments};
}

MadeObject object_declared(const Ast& ast, NodeId declaration) {
  const NodeId left = ast.child(declaration, Role::left);
  const std::string_view rest =
      ast.source.substr(ast[left].last_byte, ast[declaration].last_byte - ast[left].last_byte);
  return {declared_class(ast[declaration].text), bracketed(rest)};
}

std::optional<MadeObject> member_made(const Ast& ast, const ClassFacts& owner, NodeId initializer) {
  const NodeId left = ast.child(initializer, Role::left);
  if (left == kNoNode) return {};
  const auto field =
      std::ranges::find(owner.fields, ast[left].text, &std::pair<std::string, std::string>::first);
  if (field == owner.fields.end() || field->second.find_first_of("*&") != std::string::npos ||
      contains_any(field->second, {"ptr<"}))
    return {};
  const std::string_view name = declared_class(field->second);
  const MadeObject made{name, bracketed(ast.slice(initializer))};
  // data_(other.data_) copies, data_() may be of no size
  if (name.empty() || made.given() == 0 ||
      made.arguments.find(ast[left].text) != std::string_view::npos)
    return {};
  return made;
}

}  // namespace stallscope
