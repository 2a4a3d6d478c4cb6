#include "source/match/pattern.h"

#include <algorithm>
#include <cctype>
#include <set>

namespace stallscope {
namespace {

using K = NodeKind;
constexpr std::string_view kMark = "mv__";  ///< stands for `$` in identifiers

std::string mark_metavariables(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '$')
      out += kMark;
    else
      out += c;
  }
  return out;
}

bool is_metavariable(const Node& node) {
  return node.kind == K::name && node.text.starts_with(kMark);
}

/// Whether a node's text is part of what it means.
bool text_matters(K kind) {
  return kind == K::attribute || kind == K::name || kind == K::number || kind == K::string ||
         kind == K::constant || kind == K::binary || kind == K::unary || kind == K::compare ||
         kind == K::boolean || kind == K::keyword || kind == K::aug_assign;
}

bool commutes(const Node& node) {
  return node.kind == K::binary && (node.text == "+" || node.text == "*");
}

/// torch.bmm, self.buffer.sample: whether a callee is compared as what it resolves to.
bool is_dotted_name(const Ast& ast, NodeId callee) {
  if (ast[callee].kind != K::attribute) return false;
  while (ast[callee].kind == K::attribute) callee = ast.child(callee, Role::object);
  return ast[callee].kind == K::name && !is_metavariable(ast[callee]);
}

/// 1, 1.0, 1. and 1.0f are one number.
std::string_view plain_number(std::string_view text) {
  if (text.find('.') == std::string_view::npos) return text;
  if (text.ends_with('f') || text.ends_with('F')) text.remove_suffix(1);
  while (text.size() > 1 && text.ends_with('0')) text.remove_suffix(1);
  if (text.size() > 1 && text.ends_with('.')) text.remove_suffix(1);
  return text;
}

bool same_text(const Node& a, const Node& b) {
  return a.text == b.text || (a.kind == K::number && plain_number(a.text) == plain_number(b.text));
}

/// C++: MPI_Bcast(...) of the statement MPICHECK(MPI_Bcast(...)); kNoNode of any other one.
NodeId checked_call(const Ast& ast, NodeId statement) {
  if (ast.grammar != Grammar::cuda || ast[statement].kind != K::call) return kNoNode;
  const NodeId callee = ast.child(statement, Role::callee);
  const NodeId argument = ast.child(statement, Role::argument);
  const bool macro =
      ast[callee].kind == K::name &&
      std::ranges::none_of(ast[callee].text, [](unsigned char c) { return std::islower(c) != 0; });
  return macro && ast[argument].kind == K::call && ast[argument].next == kNoNode ? argument
                                                                                 : kNoNode;
}

bool same_code(std::string_view a, std::string_view b) {
  auto space = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  size_t i = 0, j = 0;
  while (true) {
    while (i < a.size() && space(a[i])) ++i;
    while (j < b.size() && space(b[j])) ++j;
    if (i == a.size() || j == b.size()) return i == a.size() && j == b.size();
    if (a[i++] != b[j++]) return false;
  }
}

}  // namespace

Result<Pattern> Pattern::compile(std::string_view text, Grammar grammar) {
  Pattern out;
  std::string source = mark_metavariables(text);
  if (grammar == Grammar::cuda) source = "void pattern() {\n" + source + ";\n}";
  out.text_ = std::make_shared<const std::string>(std::move(source));
  auto ast = std::make_shared<Ast>(parse_source(*out.text_, grammar));
  if (ast->error_bytes > 0)
    return Error{.message = "cannot read the pattern '" + std::string(text) + "'"};
  NodeId parent = 0;
  if (grammar == Grammar::cuda) {
    NodeId function = ast->nodes[0].first_child;
    parent = function == kNoNode ? kNoNode : ast->child(function, Role::body);
  }
  if (parent != kNoNode) {
    for (NodeId id : children(*ast, parent)) {
      if ((*ast)[id].kind != K::other || (*ast)[id].first_child != kNoNode)
        out.roots_.push_back(id);
    }
  }
  if (out.roots_.empty())
    return Error{.message = "the pattern '" + std::string(text) + "' is empty"};
  std::set<std::string_view> names;
  for (const Node& node : ast->nodes) {
    if (is_metavariable(node)) names.insert(node.text);
  }
  if (names.size() > Bindings::kMost)
    return Error{.message = "the pattern '" + std::string(text) + "' has more than " +
                            std::to_string(Bindings::kMost) + " metavariables"};
  out.find_anchor_call(*ast);
  out.find_right(*ast);
  out.ast_ = std::move(ast);
  return out;
}

/// What the right-hand side of the first statement must be, or what elements are taken of, if it is
/// one thing. The operands of sums and products may change places.
void Pattern::find_right(const Ast& ast) {
  const NodeId right = ast.child(roots_[0], right_role(ast[roots_[0]].kind));
  if (right == kNoNode || commutes(ast[roots_[0]]) || is_metavariable(ast[right]) ||
      ast[right].kind == K::ellipsis)
    return;
  right_ = ast[right].kind;
  const Node& callee = ast[ast.child(right, Role::callee)];
  if (callee.kind == K::name && !is_metavariable(callee)) right_call_ = callee.text;
  if (callee.kind == K::attribute && !callee.text.starts_with(kMark))
    (is_dotted_name(ast, ast.child(right, Role::callee)) ? right_path_ : right_call_) = callee.text;
  if (right_ == K::binary) right_text_ = ast[right].text;
  // for layer in self.layers: whatever self is
  if (right_ == K::attribute && !ast[right].text.starts_with(kMark)) right_text_ = ast[right].text;
}

void Pattern::find_anchor_call(const Ast& ast) {
  if (ast[roots_[0]].kind != K::call) return;
  const std::string_view name = callee_name(ast, roots_[0]);
  if (!name.starts_with(kMark)) anchor_call_ = name;
}

bool Pattern::match(const Ast& code, const Names& names, NodeId at, Bindings& bindings) const {
  bindings.clear();
  Matching m{code, names, bindings};
  return node(m, roots_[0], at) &&
         (roots_.size() == 1 || sequence(m, roots_, 1, code[code.statement_of(at)].next));
}

bool Pattern::bind(Matching& m, std::string_view name, NodeId code) const {
  name.remove_prefix(kMark.size());
  if (name == "_") return true;
  if (const auto* bound = m.bindings.find(name); bound != m.bindings.end())
    return same_code(m.code.slice(bound->second), m.code.slice(code));
  m.bindings.add(name, code);
  return true;
}

/// Sums and products, whose operands may stand in either order. What the first operand was taken
/// for stays when the second does not match, but for the other order of the two.
bool Pattern::commuting(Matching& m, NodeId pattern, NodeId code) const {
  const NodeId first = (*ast_)[pattern].first_child, left = m.code[code].first_child;
  const NodeId second = (*ast_)[first].next, right = m.code[left].next;
  const Bindings before = m.bindings;
  if (node(m, first, left) && node(m, second, right)) return true;
  m.bindings = before;
  return node(m, first, right) && node(m, second, left);
}

bool Pattern::node(Matching& m, NodeId pattern, NodeId code) const {
  const Node& p = (*ast_)[pattern];
  const Node& c = m.code[code];
  if (is_metavariable(p)) return bind(m, p.text, code);
  if (p.kind != c.kind) return false;
  if (p.kind == K::call) return call(m, pattern, code);
  if (p.kind == K::block) return block(m, pattern, code);
  if (p.kind == K::attribute && p.text.starts_with(kMark)) {
    // any attribute
  } else if (text_matters(p.kind) && !same_text(p, c)) {
    return false;
  }
  if (commutes(p)) return commuting(m, pattern, code);
  // `...` at the end is anything; before other indices it is Python's own.
  const auto is_rest = [&](NodeId id) {
    return (*ast_)[id].kind == K::ellipsis && (*ast_)[id].next == kNoNode;
  };
  NodeId pc = p.first_child, cc = c.first_child;
  while (pc != kNoNode && !is_rest(pc)) {
    if (cc == kNoNode) return false;
    if (!node(m, pc, cc)) return false;
    pc = (*ast_)[pc].next;
    cc = m.code[cc].next;
  }
  return pc != kNoNode || cc == kNoNode;
}

/// A dotted callee is compared as resolved; a bare name with the last name of any callee.
bool Pattern::callee(Matching& m, NodeId pattern, NodeId code) const {
  const Node& p = (*ast_)[pattern];
  if (is_metavariable(p)) return bind(m, p.text, code);
  if (p.kind == K::name) {
    const Node& c = m.code[code];
    return (c.kind == K::name || c.kind == K::attribute) && c.text == p.text;
  }
  if (!is_dotted_name(*ast_, pattern)) return node(m, pattern, code);
  std::string_view path = m.names.resolve(code).path;
  NodeId at = pattern;
  for (; (*ast_)[at].kind == K::attribute; at = ast_->child(at, Role::object)) {
    const std::string_view name = (*ast_)[at].text;
    if (!path.ends_with(name)) return false;
    path.remove_suffix(name.size());
    if (!path.ends_with('.')) return false;
    path.remove_suffix(1);
  }
  return path == (*ast_)[at].text;
}

bool Pattern::call(Matching& m, NodeId pattern, NodeId code) const {
  NodeId pf = ast_->child(pattern, Role::callee), cf = m.code.child(code, Role::callee);
  if (pf == kNoNode || cf == kNoNode || !callee(m, pf, cf)) return false;
  std::vector<NodeId> positional, keywords;
  for (NodeId c : children(m.code, code)) {
    if (m.code[c].role != Role::argument) continue;
    (m.code[c].kind == K::keyword ? keywords : positional).push_back(c);
  }
  size_t next = 0;
  bool open = false;
  for (NodeId p : children(*ast_, pattern)) {
    const Node& argument = (*ast_)[p];
    if (argument.role != Role::argument) continue;
    if (argument.kind == K::ellipsis) {
      open = true;
    } else if (argument.kind == K::keyword) {
      auto found =
          std::ranges::find_if(keywords, [&](NodeId k) { return m.code[k].text == argument.text; });
      if (found == keywords.end() || !node(m, p, *found)) return false;
      keywords.erase(found);
    } else if (open) {
      while (next < positional.size() && !node(m, p, positional[next])) ++next;
      if (next++ >= positional.size()) return false;
    } else {
      if (next >= positional.size() || !node(m, p, positional[next])) return false;
      ++next;
    }
  }
  return open || (next == positional.size() && keywords.empty());
}

/// The pattern's statements in this order, with any others between them.
bool Pattern::block(Matching& m, NodeId pattern, NodeId code) const {
  std::vector<NodeId> wanted;
  for (NodeId p : children(*ast_, pattern)) {
    if ((*ast_)[p].kind != K::ellipsis) wanted.push_back(p);
  }
  return sequence(m, wanted, 0, m.code[code].first_child);
}

bool Pattern::sequence(Matching& m, const std::vector<NodeId>& patterns, size_t next,
                       NodeId from) const {
  if (next == patterns.size()) return true;
  for (NodeId at = from; at != kNoNode; at = m.code[at].next) {
    Bindings before = m.bindings;
    for (const NodeId call : {at, checked_call(m.code, at)}) {
      if (call == kNoNode) continue;
      if (node(m, patterns[next], call) && sequence(m, patterns, next + 1, m.code[at].next))
        return true;
      m.bindings = before;
    }
  }
  return false;
}

}  // namespace stallscope
