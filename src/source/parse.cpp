// From tree-sitter's concrete trees to the Ast: what grammar.cpp's tables say,
// and the few shapes that differ between languages.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "source/ast.h"
#include "source/grammar.h"
#include "source/parse_memory.h"

namespace stallscope {
namespace {

using K = NodeKind;

class Converter {
 public:
  Converter(Ast& ast, const TSTree* tree)
      : ast_(ast),
        tables_(grammar_tables(ast.grammar)),
        cursor_(ts_tree_cursor_new(ts_tree_root_node(tree))) {
    module_ = add(K::module, Role::none, kNoNode, ts_tree_cursor_current_node(&cursor_));
  }
  ~Converter() { ts_tree_cursor_delete(&cursor_); }
  Converter(const Converter&) = delete;
  Converter& operator=(const Converter&) = delete;

  /// The statements of a tree, behind those added before.
  void add_all(const TSTree* tree) {
    const TSNode root = ts_tree_root_node(tree);
    ts_tree_cursor_reset(&cursor_, root);
    if (ts_node_is_error(root))
      ast_.error_bytes += ts_node_end_byte(root) - ts_node_start_byte(root);
    if (ts_tree_cursor_goto_first_child(&cursor_)) siblings(module_, Role::none, 0);
    close(module_);
  }

 private:
  /// Converts the node under the cursor and those after it as children of `parent`.
  void siblings(NodeId parent, Role inherited, unsigned depth) {
    do {
      one(parent, inherited, depth);
    } while (ts_tree_cursor_goto_next_sibling(&cursor_));
    ts_tree_cursor_goto_parent(&cursor_);
  }

  void descend(NodeId parent, Role inherited, unsigned depth) {
    if (depth < kMaxNesting && ts_tree_cursor_goto_first_child(&cursor_)) {
      siblings(parent, inherited, depth + 1);
    }
  }

  void one(NodeId parent, Role inherited, unsigned depth) {
    TSNode node = ts_tree_cursor_current_node(&cursor_);
    const TSFieldId field = ts_tree_cursor_current_field_id(&cursor_);
    Node& owner = ast_.nodes[parent];
    if (!ts_node_is_named(node)) {
      if (field != 0 && (field == tables_.operator_field || field == tables_.operators_field) &&
          owner.text.empty()) {
        owner.text = text(node);
      } else if (owner.kind == K::unary && owner.text.empty() && owner.first_child == kNoNode) {
        owner.text = text(node);  // Python's `not` has no field
      }
      return;
    }
    const TSSymbol symbol = ts_node_symbol(node);
    if (symbol >= tables_.specs.size()) {  // ERROR
      ast_.error_bytes += ts_node_end_byte(node) - ts_node_start_byte(node);
      descend(parent, Role::none, depth);
      return;
    }
    const Spec spec = tables_.specs[symbol];
    if (spec.action == Action::skip) return;
    Role role = field < tables_.roles.size() ? tables_.roles[field] : Role::none;
    if (inherited != Role::none && role != Role::left) role = inherited;
    if (owner.kind == K::subscript && role == Role::value) role = Role::object;
    if (names_owner(owner, field)) {
      owner.text = last_name(node);
      return;
    }
    switch (spec.action) {
      case Action::flatten:
        descend(parent, role, depth);
        return;
      case Action::declaration:
        declaration(parent, role, node, depth);
        return;
      case Action::declarator:
        declarator(parent, role, node, depth);
        return;
      case Action::qualified_name:
        qualified(parent, role, node);
        return;
      default:
        break;
    }
    NodeId id = add(spec.kind, role, parent, node);
    if (spec.action == Action::leaf || spec.kind == K::string || spec.kind == K::star) {
      ast_.nodes[id].text = text(node);
    }
    if (spec.action != Action::leaf) {
      descend(id, Role::none, depth);
      finish(id, node);
    }
    close(id);
  }

  /// Whether this field only gives `owner` its name.
  bool names_owner(const Node& owner, TSFieldId field) const {
    if (field == 0) return false;
    if (owner.kind == K::attribute) {
      return field == tables_.attribute_field || field == tables_.field_field;
    }
    if (field != tables_.name_field) return false;
    switch (owner.kind) {
      case K::function:
      case K::class_:
      case K::keyword:
      case K::parameter:
      case K::import_name:
        return true;
      default:
        return false;
    }
  }

  /// The identifier a (possibly templated) name ends in, or the node's whole text.
  std::string_view last_name(TSNode node) {
    TSNode name = ts_node_child_by_field_id(node, tables_.name_field);
    return ts_node_is_null(name) ? text(node) : text(name);
  }

  /// Roles and texts that the grammars do not name.
  void finish(NodeId id, TSNode node) {
    Node& self = ast_.nodes[id];
    std::vector<NodeId>& kids = scratch_;
    kids.clear();
    for (NodeId c : children(ast_, id)) kids.push_back(c);
    auto role = [&](size_t index, Role r) {
      if (index < kids.size()) ast_.nodes[kids[index]].role = r;
    };
    switch (self.kind) {
      case K::conditional:
        if (ast_.grammar == Grammar::python) {
          role(0, Role::consequence);
          role(1, Role::condition);
          role(2, Role::alternative);
        }
        break;
      case K::compare:
        role(0, Role::left);
        for (size_t i = 1; i < kids.size(); ++i) role(i, Role::right);
        break;
      case K::assert_:
        role(0, Role::condition);
        role(1, Role::value);
        break;
      case K::unary:
      case K::return_:
      case K::yield:
      case K::await:
      case K::star:
      case K::decorator:
      case K::interpolation:
        role(0, Role::value);
        break;
      case K::comprehension:
        self.text = text(node).substr(0, 1);  // its bracket tells which kind
        break;
      case K::import_from:
        if (!kids.empty()) {
          self.text = ast_.nodes[kids[0]].text;
          role(0, Role::object);
        }
        break;
      case K::parameter:
        if (self.text.empty()) name_parameter(self, kids);
        break;
      case K::assign: {
        NodeId type = ast_.child(id, Role::type);
        if (type != kNoNode) self.text = ast_.nodes[type].text;
        break;
      }
      case K::binary:
        if (is_comparison(self.text)) self.kind = K::compare;
        if (self.text == "&&" || self.text == "||") self.kind = K::boolean;
        break;
      case K::function:
        if (self.text.empty()) self.text = "operator";
        break;
      default:
        break;
    }
  }

  void name_parameter(Node& self, const std::vector<NodeId>& kids) {
    for (NodeId kid : kids) {
      const Node& node = ast_.nodes[kid];
      if (node.kind == K::name && node.role != Role::type && node.role != Role::value) {
        self.text = node.text;
      } else if (node.kind == K::star && self.text.empty()) {
        self.text = node.text;
      }
    }
  }

  static bool is_comparison(std::string_view op) {
    return op == "<" || op == ">" || op == "==" || op == "!=" || op == "<=" || op == ">=";
  }

  /// C++: `T a = x, b;` becomes one assignment per declarator, with T as its text.
  void declaration(NodeId parent, Role role, TSNode node, unsigned depth) {
    if (depth >= kMaxNesting) return;
    std::string_view type;
    TSNode type_node = ts_node_child_by_field_name(node, "type", 4);
    if (!ts_node_is_null(type_node)) type = text(type_node);
    if (!ts_tree_cursor_goto_first_child(&cursor_)) return;
    do {
      TSNode part = ts_tree_cursor_current_node(&cursor_);
      std::string_view part_type = ts_node_type(part);
      std::string_view field = field_name();
      if (field == "type") {
        if (part_type == "class_specifier" || part_type == "struct_specifier") {
          one(parent, Role::none, depth + 1);
        }
        continue;
      }
      if (field != "declarator") continue;
      NodeId id = add(K::assign, role, parent, part);
      ast_.nodes[id].text = type;
      if (part_type == "init_declarator") {
        if (ts_tree_cursor_goto_first_child(&cursor_)) {
          do {
            if (field_name() == "value")
              one(id, Role::right, depth + 1);
            else if (field_name() == "declarator")
              one(id, Role::left, depth + 1);
          } while (ts_tree_cursor_goto_next_sibling(&cursor_));
          ts_tree_cursor_goto_parent(&cursor_);
        }
      } else {
        one(id, Role::left, depth + 1);
      }
      close(id);
    } while (ts_tree_cursor_goto_next_sibling(&cursor_));
    ts_tree_cursor_goto_parent(&cursor_);
  }

  std::string_view field_name() const {
    const char* name = ts_tree_cursor_current_field_name(&cursor_);
    return name ? std::string_view(name) : std::string_view();
  }

  /// C++: the declarator of a function names it; any other one is seen through.
  void declarator(NodeId parent, Role role, TSNode node, unsigned depth) {
    if (ast_.nodes[parent].kind == K::function || ast_.nodes[parent].kind == K::lambda) {
      if (std::string_view(ts_node_type(node)) == "function_declarator") {
        TSNode name = ts_node_child_by_field_name(node, "declarator", 10);
        if (!ts_node_is_null(name)) ast_.nodes[parent].text = text(name);
        if (!ts_tree_cursor_goto_first_child(&cursor_)) return;
        do {
          if (field_name() == "parameters") one(parent, Role::parameters, depth + 1);
        } while (ts_tree_cursor_goto_next_sibling(&cursor_));
        ts_tree_cursor_goto_parent(&cursor_);
        return;
      }
    }
    descend(parent, role, depth);
  }

  /// C++: a::b::c becomes attribute c of attribute b of name a, as in Python.
  void qualified(NodeId parent, Role role, TSNode node) {
    std::vector<TSNode> parts;
    TSNode at = node;
    while (parts.size() < 32 && std::string_view(ts_node_type(at)) == "qualified_identifier") {
      TSNode scope = ts_node_child_by_field_name(at, "scope", 5);
      if (!ts_node_is_null(scope)) parts.push_back(scope);
      TSNode name = ts_node_child_by_field_id(at, tables_.name_field);
      if (ts_node_is_null(name)) break;
      at = name;
    }
    parts.push_back(at);
    std::vector<NodeId> opened;
    for (size_t i = parts.size(); i-- > 0;) {
      NodeId id = add(i == 0 ? K::name : K::attribute, opened.empty() ? role : Role::object,
                      opened.empty() ? parent : opened.back(), node);
      ast_.nodes[id].text = last_name(parts[i]);
      opened.push_back(id);
    }
    for (NodeId id : opened) close(id);
  }

  NodeId add(NodeKind kind, Role role, NodeId parent, TSNode node) {
    NodeId id = static_cast<NodeId>(ast_.nodes.size());
    Node& out = ast_.nodes.emplace_back();
    out.kind = kind;
    out.role = role;
    out.parent = parent;
    out.first_byte = ts_node_start_byte(node);
    out.last_byte = ts_node_end_byte(node);
    TSPoint start = ts_node_start_point(node), end = ts_node_end_point(node);
    out.first_line = start.row + 1;
    out.last_line = end.row + 1;
    out.column = static_cast<uint16_t>(std::min<uint32_t>(start.column + 1, 0xffff));
    if (parent != kNoNode) {
      if (last_child_.size() <= parent) last_child_.resize(id + 64, kNoNode);
      NodeId& last = last_child_[parent];
      (last == kNoNode ? ast_.nodes[parent].first_child : ast_.nodes[last].next) = id;
      last = id;
    }
    return id;
  }
  void close(NodeId id) { ast_.nodes[id].end = static_cast<NodeId>(ast_.nodes.size()); }

  std::string_view text(TSNode node) const {
    uint32_t first = ts_node_start_byte(node), last = ts_node_end_byte(node);
    return ast_.source.substr(first, last - first);
  }

  Ast& ast_;
  const GrammarTables& tables_;
  mutable TSTreeCursor cursor_;
  NodeId module_ = 0;
  std::vector<NodeId> last_child_;
  std::vector<NodeId> scratch_;
};

struct ParserDeleter {
  void operator()(TSParser* parser) const { ts_parser_delete(parser); }
};

using Parser = std::unique_ptr<TSParser, ParserDeleter>;

const TSTree* parse_text(const Parser& parser, std::string_view text) {
  return ts_parser_parse_string(parser.get(), nullptr, text.data(),
                                static_cast<uint32_t>(text.size()));
}

Ast empty_ast(std::string_view source, Grammar grammar) {
  Ast ast;
  ast.source = source;
  ast.grammar = grammar;
  ast.nodes.reserve(source.size() / 6 + 16);
  return ast;
}

/// Where the top-level definitions of Python begin, each with its decorators; from the start.
std::vector<TSRange> definitions(std::string_view text) {
  std::vector<TSRange> out(1);
  bool decorated = false;
  uint32_t row = 0;
  for (size_t at = 0; at < text.size(); ++row) {
    const std::string_view line = text.substr(at);
    const bool definition =
        line.starts_with("def ") || line.starts_with("class ") || line.starts_with("async def ");
    const bool decorator = line.starts_with('@');
    if ((definition || decorator) && !decorated && at > 0) {
      const TSPoint here = {row, 0};
      out.back().end_byte = static_cast<uint32_t>(at);
      out.back().end_point = here;
      out.push_back({here, here, static_cast<uint32_t>(at), static_cast<uint32_t>(at)});
    }
    if (definition || decorator) decorated = decorator;
    at = std::min(text.find('\n', at), text.size() - 1) + 1;
  }
  out.back().end_byte = static_cast<uint32_t>(text.size());
  out.back().end_point = {row, 0};
  return out;
}

/// Each top-level definition parsed by itself, so that an open bracket spoils one only.
Ast parse_apart(const Parser& parser, const Ast& whole, std::string_view text) {
  Ast ast = empty_ast(whole.source, whole.grammar);
  std::optional<Converter> converter;
  for (const TSRange& range : definitions(text)) {
    ts_parser_set_included_ranges(parser.get(), &range, 1);
    const TSTree* tree = parse_text(parser, text);
    if (!tree) continue;
    if (!converter) converter.emplace(ast, tree);
    converter->add_all(tree);
  }
  if (!converter) return whole;
  ast.nodes[0] = whole.nodes[0];
  ast.nodes[0].first_child = ast.size() > 1 ? 1 : kNoNode;
  ast.nodes[0].end = static_cast<NodeId>(ast.size());
  return ast;
}

}  // namespace

Ast parse_source(std::string_view source, Grammar grammar) {
  source = source.substr(0, 0xfffffff0u);
  Ast ast = empty_ast(source, grammar);
  // The parser takes a zero byte for the end; what it reads has a blank there.
  std::string without_zeros;
  std::string_view text = source;
  if (source.find('\0') != std::string_view::npos) {
    without_zeros = source;
    std::ranges::replace(without_zeros, '\0', ' ');
    text = without_zeros;
  }
  const ParseMemoryScope memory;
  const Parser parser(ts_parser_new());
  ts_parser_set_language(parser.get(), grammar_tables(grammar).language);
  // The tree goes with its memory: taking it apart node by node would cost a tenth of the parse.
  if (const TSTree* tree = parse_text(parser, text)) {
    Converter(ast, tree).add_all(tree);
  } else {
    ast.nodes.emplace_back().kind = K::module;
    ast.nodes[0].end = 1;
  }
  if (ast.error_bytes > 0 && grammar == Grammar::python) {
    Ast apart = parse_apart(parser, ast, text);
    if (apart.error_bytes < ast.error_bytes) return apart;
  }
  return ast;
}

}  // namespace stallscope
