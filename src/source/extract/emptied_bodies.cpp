#include "source/extract/emptied_bodies.h"

#include <algorithm>
#include <array>

#include "source/syntax/identifier.h"
#include "source/syntax/parsed_text.h"

namespace stallscope {
namespace {

/// Whether what stands before a body says that the body decides more than what the function does.
bool needs_body(std::string_view head) {
  constexpr std::array<std::string_view, 3> kDecided = {"auto", "constexpr", "consteval"};
  return std::ranges::any_of(kDecided,
                             [&](std::string_view word) { return holds_identifier(head, word); });
}

/// Where the initialisers of a constructor begin, in what follows its parameters: at the only
/// single colon there is before them.
size_t initialisers(std::string_view tail) {
  for (size_t at = 0; at < tail.size(); ++at) {
    if (tail[at] != ':') continue;
    if (at + 1 < tail.size() && tail[at + 1] == ':') {
      ++at;
      continue;
    }
    return at;
  }
  return tail.size();
}

/// A member that its class defines is declared where it was defined: with an empty body, a
/// constructor would have to make all members by default.
bool is_in_class(const Ast& ast, NodeId function) {
  return ast.ancestor(function, NodeKind::class_) != kNoNode;
}

}  // namespace

std::string with_emptied_bodies(std::string_view text,
                                const std::function<bool(const Node&)>& is_left_out) {
  const Ast ast = parse_source(text, Grammar::cuda);
  std::string out(text);
  for (NodeId id = 0; id < ast.size(); ++id) {
    const Node& node = ast[id];
    if (node.kind != NodeKind::function || !is_left_out(node)) continue;
    const NodeId body = ast.child(id, Role::body), parameters = ast.child(id, Role::parameters);
    if (body == kNoNode || parameters == kNoNode) continue;
    const uint32_t begin = ast[body].first_byte, end = ast[body].last_byte;
    const uint32_t behind = ast[parameters].last_byte;
    if (behind > begin || end > text.size() || end < begin + 2 || text[begin] != '{' ||
        text[end - 1] != '}')
      continue;
    const std::string_view tail = text.substr(behind, begin - behind);
    if (needs_body(text.substr(node.first_byte, begin - node.first_byte)) ||
        text.substr(behind, end - behind).find("\n#") != std::string_view::npos)
      continue;
    blank(out, behind + initialisers(tail), end);
    if (is_in_class(ast, id)) {
      out[end - 1] = ';';
    } else {
      out[begin] = '{';
      out[end - 1] = '}';
    }
  }
  return out;
}

}  // namespace stallscope
