#include "source/names/method_prefix.h"

#include <algorithm>

#include "source/syntax/identifier.h"

namespace stallscope {
namespace {

using K = NodeKind;

constexpr std::ptrdiff_t kFewestLetters = 4;  ///< "get_" says too little

/// "loss_" of "loss_", f"loss_{name}" and "loss_%s".
std::string_view literal_start(std::string_view text) {
  const size_t quote = text.find_first_of("\"'");
  if (quote == std::string_view::npos) return {};
  text.remove_prefix(quote);
  while (!text.empty() && (text.front() == '"' || text.front() == '\'')) text.remove_prefix(1);
  return text.substr(0, std::ranges::find_if_not(text, [](char c) {
                          return is_identifier_char(c);
                        }) - text.begin());
}

}  // namespace

std::string_view method_prefix(const Ast& ast, NodeId call) {
  const NodeId object = ast.child(call, Role::argument);
  if (object == kNoNode || ast.slice(object) != "self" || ast[object].next == kNoNode) return {};
  const NodeId name = ast[object].next;
  const NodeId start = ast[name].kind == K::binary ? ast[name].first_child : name;
  if (start == kNoNode || ast[start].kind != K::string) return {};
  const std::string_view prefix = literal_start(ast.slice(start));
  const auto letters = std::ranges::count_if(prefix, [](char c) { return c != '_'; });
  // A whole name is no matter of prefixes.
  const bool whole = start == name && ast.slice(start).size() <= prefix.size() + 2;
  return letters < kFewestLetters || whole ? std::string_view() : prefix;
}

}  // namespace stallscope
