#include "source/match/macro_calls.h"

#include <algorithm>
#include <cctype>

#include "source/names/names.h"
#include "source/syntax/identifier.h"

namespace stallscope {
namespace {

using K = NodeKind;

/// The next identifier at or behind `at`, which moves behind it; empty at the end.
std::string_view next_word(std::string_view text, size_t& at) {
  while (at < text.size() && !is_identifier_char(text[at])) ++at;
  const size_t start = at;
  while (at < text.size() && is_identifier_char(text[at])) ++at;
  return text.substr(start, at - start);
}

/// The line at `at` with those it is continued by.
std::string_view logical_line(std::string_view text, size_t at) {
  size_t end = at;
  for (;;) {
    end = std::min(text.find('\n', end), text.size());
    size_t last = end;
    while (last > at && (text[last - 1] == '\r' || text[last - 1] == ' ')) --last;
    if (end == text.size() || last == at || text[last - 1] != '\\') break;
    ++end;
  }
  return text.substr(at, end - at);
}

/// Nodes to add before node `before`.
struct Insertion {
  NodeId before = 0;
  std::vector<Node> nodes;  ///< links are relative to the first
};

class Builder {
 public:
  Builder(const Ast& ast, const ClangTypes& types) : ast_(ast), types_(types) {}

  /// The call as a tree: its own range is that of the macro's use.
  std::vector<Node> build(const HiddenCall& call, NodeId place) {
    nodes_.clear();
    use_ = ast_[place];
    use_.first_byte = call.first;
    use_.last_byte = call.last;
    const NodeId root = add(K::call, Role::none, kNoNode, {});
    callee(call, root);
    for (const HiddenPart& argument : call.arguments) part(argument, Role::argument, root);
    nodes_[root].end = static_cast<NodeId>(nodes_.size());
    link();
    return nodes_;
  }

 private:
  /// "torch.cuda.synchronize" is attribute synchronize of attribute cuda of name torch.
  void callee(const HiddenCall& call, NodeId root) {
    const std::string_view path = types_.names[call.name];
    if (call.method) {
      const NodeId method = add(K::attribute, Role::callee, root, path);
      part(call.receiver, Role::object, method);
      nodes_[method].end = static_cast<NodeId>(nodes_.size());
      return;
    }
    NodeId parent = root;
    Role role = Role::callee;
    std::vector<NodeId> opened;
    for (std::string_view rest = path;;) {
      const size_t dot = rest.rfind('.');
      parent = add(dot == std::string_view::npos ? K::name : K::attribute, role, parent,
                   rest.substr(dot == std::string_view::npos ? 0 : dot + 1));
      opened.push_back(parent);
      role = Role::object;
      if (dot == std::string_view::npos) break;
      rest = rest.substr(0, dot);
    }
    for (const NodeId id : opened) nodes_[id].end = static_cast<NodeId>(nodes_.size());
  }

  void part(const HiddenPart& given, Role role, NodeId parent) {
    std::string_view text = types_.names[given.name];
    if (given.first < given.last) text = ast_.source.substr(given.first, given.last - given.first);
    const bool word = !text.empty() && std::ranges::all_of(text, is_identifier_char);
    const bool number = word && std::isdigit(static_cast<unsigned char>(text[0])) != 0;
    const NodeId id = add(number ? K::number : word ? K::name : K::other, role, parent, text);
    if (given.first < given.last) {
      nodes_[id].first_byte = given.first;
      nodes_[id].last_byte = given.last;
    } else {
      nodes_[id].column = 0;  // stands nowhere: its text is all there is
    }
  }

  NodeId add(NodeKind kind, Role role, NodeId parent, std::string_view text) {
    const auto id = static_cast<NodeId>(nodes_.size());
    Node node = use_;
    node.kind = kind;
    node.role = role;
    node.parent = parent;
    node.first_child = node.next = kNoNode;
    node.end = id + 1;
    node.text = text;
    nodes_.push_back(node);
    return id;
  }

  /// First children and siblings follow from parents and order.
  void link() {
    std::vector<NodeId> last(nodes_.size(), kNoNode);
    for (NodeId id = 1; id < nodes_.size(); ++id) {
      const NodeId parent = nodes_[id].parent;
      (last[parent] == kNoNode ? nodes_[parent].first_child : nodes_[last[parent]].next) = id;
      last[parent] = id;
    }
  }

  const Ast& ast_;
  const ClangTypes& types_;
  Node use_;
  std::vector<Node> nodes_;
};

/// The innermost node around bytes [first, last).
NodeId node_around(const Ast& ast, uint32_t first, uint32_t last) {
  NodeId found = 0;
  for (NodeId at = 0; at != kNoNode;) {
    found = at;
    NodeId inner = kNoNode;
    for (NodeId c : children(ast, at)) {
      if (ast[c].first_byte <= first && last <= ast[c].last_byte && ast[c].kind != K::string)
        inner = c;
    }
    at = inner;
  }
  return found;
}

/// What stands in a block, or alone in a branch or a loop: where another statement can stand.
NodeId statement_around(const Ast& ast, NodeId id) {
  NodeId at = id;
  while (ast[at].parent != kNoNode) {
    const K above = ast[ast[at].parent].kind;
    if (above == K::block) return at;
    const bool branch = above == K::if_ || above == K::elif_ || above == K::else_ ||
                        above == K::for_ || above == K::while_;
    const Role role = ast[at].role;
    if (branch && (role == Role::consequence || role == Role::alternative || role == Role::body))
      return at;
    at = ast[at].parent;
  }
  return kNoNode;
}

void insert(Ast& ast, std::vector<Insertion> insertions) {
  std::ranges::stable_sort(insertions, {}, &Insertion::before);
  // Nodes added before old node i.
  std::vector<NodeId> shift(ast.size() + 2, 0);
  for (const Insertion& one : insertions)
    shift[one.before + 1] += static_cast<NodeId>(one.nodes.size());
  for (size_t i = 1; i < shift.size(); ++i) shift[i] += shift[i - 1];
  const auto moved = [&](NodeId old) { return old == kNoNode ? kNoNode : old + shift[old + 1]; };
  // A range that ends before the inserted nodes does not get them.
  const auto moved_end = [&](NodeId old) { return old + shift[old]; };
  std::vector<Node> out;
  out.reserve(ast.size() + shift.back());
  size_t next = 0;
  for (NodeId old = 0; old < ast.size(); ++old) {
    for (; next < insertions.size() && insertions[next].before == old; ++next) {
      const auto base = static_cast<NodeId>(out.size());
      const auto size = static_cast<NodeId>(insertions[next].nodes.size());
      for (Node node : insertions[next].nodes) {
        node.end += base;
        if (node.first_child != kNoNode) node.first_child += base;
        if (node.next != kNoNode) node.next += base;
        node.parent = node.parent == kNoNode ? moved(ast[old].parent) : node.parent + base;
        out.push_back(node);
      }
      out[base].role = ast[old].role;
      out[base].next = base + size;  // the next inserted one, or the statement itself
    }
    Node node = ast[old];
    node.parent = moved(node.parent);
    node.end = moved_end(node.end);
    // Links to a node lead to the first that was inserted before it.
    if (node.first_child != kNoNode) node.first_child = moved_end(node.first_child);
    if (node.next != kNoNode) node.next = moved_end(node.next);
    out.push_back(node);
  }
  ast.nodes = std::move(out);
}

}  // namespace

void for_each_macro(std::string_view text,
                    const std::function<void(std::string_view, std::string_view, size_t)>& each) {
  for (size_t at = text.find("define"); at != std::string_view::npos;
       at = text.find("define", at)) {
    size_t before = at;
    while (before > 0 && (text[before - 1] == ' ' || text[before - 1] == '\t')) --before;
    const bool directive = before > 0 && text[before - 1] == '#';
    at += 6;
    if (!directive) continue;
    const std::string_view line = logical_line(text, at);
    size_t in = 0;
    const std::string_view name = next_word(line, in);
    if (!name.empty()) each(name, line.substr(in), at + in);
    at += line.size();
  }
}

std::vector<std::string> hiding_macros(std::string_view text, const RuleSet& rules) {
  std::vector<std::string> out;
  for_each_macro(text, [&](std::string_view name, std::string_view body, size_t) {
    for (size_t at = 0; at < body.size();) {
      const std::string_view word = next_word(body, at);
      const bool known = std::ranges::find(out, word) != out.end();
      if (!known && (word.empty() || !rules.by_call(word))) continue;
      if (std::ranges::find(out, name) == out.end()) out.emplace_back(name);
      break;
    }
  });
  std::ranges::sort(out);
  return out;
}

bool uses_any(std::string_view text, const std::vector<std::string>& macros) {
  return std::ranges::any_of(macros, [&](const std::string& name) {
    for (size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at)) {
      const size_t end = at + name.size();
      const bool whole = is_whole_identifier(text, at, name.size());
      const size_t line = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
      const std::string_view before = text.substr(line, at - line);
      if (whole && before.find('#') == std::string_view::npos) return true;
      at = end;
    }
    return false;
  });
}

void insert_hidden_calls(Ast& ast, const ClangTypes& types, const RuleSet& rules) {
  std::vector<Insertion> insertions;
  Builder builder(ast, types);
  for (const HiddenCall& call : types.hidden) {
    if (call.last > ast.source.size() || !rules.by_call(last_component(types.names[call.name])))
      continue;
    const NodeId around = node_around(ast, call.first, call.last);
    const NodeId statement = statement_around(ast, around);
    if (statement != kNoNode) insertions.push_back({statement, builder.build(call, around)});
  }
  if (!insertions.empty()) insert(ast, std::move(insertions));
}

}  // namespace stallscope
