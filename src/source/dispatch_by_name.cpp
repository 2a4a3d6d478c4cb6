#include "source/dispatch_by_name.h"

#include <algorithm>

#include "source/call_graph.h"
#include "source/identifier.h"

namespace stallscope {
namespace {

using K = NodeKind;

constexpr std::ptrdiff_t kFewestLetters = 4;  ///< "get_" says too little
constexpr size_t kMostNamed = 24;             ///< methods that one prefix may mean

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

/// The methods of the caller's class, of its bases and of what derives from it, that begin so.
std::vector<FunctionId> CallGraph::named_by_prefix(size_t file, const CallFacts& call) const {
  FunctionId at = id_of(file, call.function);
  while (function(at).class_name.empty() && function(at).parent != kNone)
    at = id_of(file, function(at).parent);
  std::vector<FunctionId> out;
  for (const ClassPlace& klass :
       classes_.visible(function(at).class_name, static_cast<uint32_t>(file))) {
    std::vector<ClassPlace> family = classes_.with_bases(klass);
    const std::vector<ClassPlace> below = classes_.below(klass);
    family.insert(family.end(), below.begin(), below.end());
    for (const ClassPlace& member : family) {
      const auto all = members_.find(member.facts->name);
      if (all == members_.end()) continue;
      for (const FunctionId id : all->second) {
        if (file_index(id) == member.file && function(id).name.starts_with(call.name) &&
            std::ranges::find(out, id) == out.end())
          out.push_back(id);
      }
    }
  }
  if (out.size() > kMostNamed) out.clear();
  return out;
}

}  // namespace stallscope
