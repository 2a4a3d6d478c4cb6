// What grammar.cpp's tables say, and the few shapes that differ between languages.
#include "source/syntax/tree_conversion.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "source/syntax/grammar.h"

namespace stallscope {
namespace {

using K = NodeKind;

class Converter {
 public:
  explicit Converter(Ast& ast) : ast_(ast), tables_(grammar_tables(ast.grammar)) {}

  /// The statements of a tree, behind those added before.
  void add_all(const TSTree* tree) {
    const SyntaxNodes nodes = syntax_nodes(tree);
    in_ = {nodes.nodes, nodes.count};
    if (ast_.nodes.empty()) add(K::module, Role::none, kNoNode, 0);
    if (in_[0].symbol >= tables_.specs.size()) note_error(0);
    descend(0, 0, Role::none, 0);
    close(0);
  }

 private:
  using Id = uint32_t;  ///< index of a node of the grammar, in `in_`
  static constexpr Id kNoId = 0xffffffffu;

  /// Converts the children of `node` as children of `parent`.
  void descend(Id node, NodeId parent, Role inherited, unsigned depth) {
    if (depth >= kMaxNesting) return;
    for (Id c = node + 1; c < in_[node].end; c = in_[c].end) one(c, parent, inherited, depth + 1);
  }

  /// Counts what of an error's node is not in those inside it, which are read all the same.
  void note_error(Id id) {
    uint32_t lost = in_[id].last_byte - in_[id].first_byte;
    for (Id c = id + 1; c < in_[id].end; c = in_[c].end) {
      if (in_[c].named) lost -= in_[c].last_byte - in_[c].first_byte;
    }
    ast_.error_bytes += std::max(lost, 1u);
    const uint32_t line = in_[id].first_row + 1;
    if (ast_.error_line == 0 || line < ast_.error_line) ast_.error_line = line;
  }

  void one(Id id, NodeId parent, Role inherited, unsigned depth) {
    const SyntaxNode& node = in_[id];
    Node& owner = ast_.nodes[parent];
    if (!node.named) {
      if (node.field != 0 &&
          (node.field == tables_.operator_field || node.field == tables_.operators_field) &&
          owner.text.empty()) {
        owner.text = text(id);
        // x /= n of C++: of the kind of x = n to its grammar, not to Python's
        if (owner.kind == K::assign && owner.text != "=") owner.kind = K::aug_assign;
      } else if (owner.kind == K::unary && owner.text.empty() && owner.first_child == kNoNode) {
        owner.text = text(id);  // Python's `not` has no field
      }
      return;
    }
    if (node.symbol >= tables_.specs.size()) {  // ERROR
      note_error(id);
      descend(id, parent, Role::none, depth);
      return;
    }
    const Spec spec = tables_.specs[node.symbol];
    if (spec.action == Action::skip) return;
    Role role = node.field < tables_.roles.size() ? tables_.roles[node.field] : Role::none;
    if (inherited != Role::none && role != Role::left) role = inherited;
    if (owner.kind == K::subscript && role == Role::value) role = Role::object;
    if (names_owner(owner, node.field)) {
      owner.text = last_name(id);
      return;
    }
    // Where nesting is cut off stands a node of no kind: a call would be one of nothing.
    if (depth >= kMaxNesting && spec.action != Action::leaf) {
      close(add(K::other, role, parent, id));
      return;
    }
    switch (spec.action) {
      case Action::flatten:
        descend(id, parent, role, depth);
        return;
      case Action::cast:  // its type is no argument of the call that (void*)x stands in
        if (const Id value = child_in(id, "value"); value != kNoId)
          one(value, parent, role, depth + 1);
        return;
      case Action::declaration:
        declaration(id, parent, role, depth);
        return;
      case Action::declarator:
        declarator(id, parent, role, depth);
        return;
      case Action::qualified_name:
        qualified(id, parent, role);
        return;
      case Action::initializer:
        initializer(id, parent, depth);
        return;
      default:
        break;
    }
    if (spec.kind == K::assign && (owner.kind == K::module || owner.kind == K::block) &&
        named_lambda(id, parent, depth))
      return;
    NodeId made = add(spec.kind, role, parent, id);
    if (spec.action == Action::leaf || spec.kind == K::string || spec.kind == K::star) {
      ast_.nodes[made].text = text(id);
    }
    if (spec.action != Action::leaf) {
      descend(id, made, Role::none, depth);
      finish(made, id);
    }
    close(made);
  }

  /// Python: `psnr = lambda x: ...` is `def psnr(x): return ...`.
  bool named_lambda(Id id, NodeId parent, unsigned depth) {
    if (ast_.grammar != Grammar::python) return false;
    const Id name = child_in(id, "left"), lambda = child_in(id, "right");
    if (name == kNoId || lambda == kNoId || type_of(name) != "identifier" ||
        type_of(lambda) != "lambda")
      return false;
    const Id parameters = child_in(lambda, "parameters"), value = child_in(lambda, "body");
    if (value == kNoId) return false;
    const NodeId function = add(K::function, Role::none, parent, id);
    ast_.nodes[function].text = text(name);
    if (parameters != kNoId) one(parameters, function, Role::parameters, depth + 1);
    const NodeId body = add(K::block, Role::body, function, value);
    const NodeId returned = add(K::return_, Role::none, body, value);
    one(value, returned, Role::value, depth + 1);
    for (const NodeId made : {returned, body, function}) close(made);
    return true;
  }

  /// C++: `auto log = [&](Tensor loss) {...};` is a function inside its function, which runs where
  /// it is called. Declared in a loop it mostly runs there, where it stands.
  bool declared_lambda(Id part, NodeId parent, unsigned depth) {
    if (type_of(part) != "init_declarator") return false;
    const Id name = child_in(part, "declarator"), lambda = child_in(part, "value");
    if (name == kNoId || lambda == kNoId || type_of(name) != "identifier" ||
        type_of(lambda) != "lambda_expression")
      return false;
    for (NodeId at = parent; at != kNoNode && ast_.nodes[at].kind != K::function;
         at = ast_.nodes[at].parent) {
      if (ast_.nodes[at].kind == K::for_ || ast_.nodes[at].kind == K::while_) return false;
    }
    const NodeId made = add(K::function, Role::value, parent, part);
    ast_.nodes[made].text = text(name);
    descend(lambda, made, Role::none, depth + 1);
    close(made);
    return true;
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

  /// The first child in that field, or kNoId.
  Id child_in(Id id, TSFieldId field) const {
    for (Id c = id + 1; c < in_[id].end; c = in_[c].end) {
      if (in_[c].field == field) return c;
    }
    return kNoId;
  }
  Id child_in(Id id, std::string_view field) const {
    return child_in(id, ts_language_field_id_for_name(tables_.language, field.data(),
                                                      static_cast<uint32_t>(field.size())));
  }
  std::string_view type_of(Id id) const {
    const char* name = ts_language_symbol_name(tables_.language, in_[id].symbol);
    return name ? std::string_view(name) : std::string_view();
  }
  std::string_view field_name(Id id) const {
    const char* name = in_[id].field == 0
                           ? nullptr
                           : ts_language_field_name_for_id(tables_.language, in_[id].field);
    return name ? std::string_view(name) : std::string_view();
  }

  /// The identifier a (possibly templated) name ends in, or the node's whole text.
  std::string_view last_name(Id id) const {
    const Id name = child_in(id, tables_.name_field);
    std::string_view out = text(name == kNoId ? id : name);
    // x.template run<T>(): of a class that depends on a template's arguments.
    if (constexpr std::string_view kWord = "template "; out.starts_with(kWord)) {
      out.remove_prefix(kWord.size());
      out = out.substr(0, out.find('<'));
    }
    return out;
  }

  /// Roles and texts that the grammars do not name.
  void finish(NodeId id, Id node) {
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
  void declaration(Id id, NodeId parent, Role role, unsigned depth) {
    if (depth >= kMaxNesting) return;
    const Id type_node = child_in(id, "type");
    const std::string_view type = type_node == kNoId ? std::string_view() : text(type_node);
    for (Id part = id + 1; part < in_[id].end; part = in_[part].end) {
      const std::string_view part_type = type_of(part), field = field_name(part);
      if (field == "type") {
        if (part_type == "class_specifier" || part_type == "struct_specifier") {
          one(part, parent, Role::none, depth + 1);
        }
        continue;
      }
      if (field != "declarator" || declared_lambda(part, parent, depth)) continue;
      NodeId made = add(K::assign, role, parent, part);
      ast_.nodes[made].text = type;
      if (part_type == "init_declarator") {
        for (Id c = part + 1; c < in_[part].end; c = in_[c].end) {
          if (field_name(c) == "value")
            one(c, made, Role::right, depth + 1);
          else if (field_name(c) == "declarator")
            one(c, made, Role::left, depth + 1);
        }
      } else if (!object_from_names(part, made, depth)) {
        one(part, made, Role::left, depth + 1);
        member_value(part, id, made, depth);
      }
      close(made);
    }
  }

  /// C++: `T a = x;` and `T a{x, y};` of a class, where the value stands behind the declarator.
  void member_value(Id declarator, Id declaration, NodeId made, unsigned depth) {
    Id value = in_[declarator].end;
    if (value < in_[declaration].end && type_of(value) == "=") value = in_[value].end;
    if (value < in_[declaration].end && field_name(value) == "default_value")
      one(value, made, Role::right, depth + 1);
  }

  /// C++: `conv(options)` in front of a constructor's body: what the member is made from stands on
  /// the right.
  void initializer(Id id, NodeId parent, unsigned depth) {
    const NodeId made = add(K::assign, Role::none, parent, id);
    Role role = Role::left;
    for (Id part = id + 1; part < in_[id].end; part = in_[part].end) {
      if (!in_[part].named) continue;
      one(part, made, role, depth + 1);
      role = Role::right;
    }
    close(made);
  }

  /// C++: `T a(b, c);` in a function makes an object of variables; the grammar takes it for the
  /// declaration of a function of types.
  bool object_from_names(Id id, NodeId made, unsigned depth) {
    const Id name = child_in(id, "declarator"), given = child_in(id, "parameters");
    if (type_of(id) != "function_declarator" || name == kNoId || given == kNoId ||
        type_of(name) != "identifier" || !is_in_function(made))
      return false;
    std::vector<Id> names;
    for (Id c = given + 1; c < in_[given].end; c = in_[c].end) {
      if (type_of(c) == "," || type_of(c) == "(" || type_of(c) == ")") continue;
      const Id only = type_of(c) == "parameter_declaration" ? child_in(c, "type") : kNoId;
      if (only == kNoId || type_of(only) != "type_identifier" || in_[only].end != in_[c].end)
        return false;
      names.push_back(only);
    }
    if (names.empty()) return false;
    one(name, made, Role::left, depth + 1);
    for (const Id given_name : names) one(given_name, made, Role::right, depth + 1);
    return true;
  }

  bool is_in_function(NodeId id) const {
    while (id != kNoNode && ast_.nodes[id].kind != K::function && ast_.nodes[id].kind != K::lambda)
      id = ast_.nodes[id].parent;
    return id != kNoNode;
  }

  /// C++: the declarator of a function names it; any other one is seen through.
  void declarator(Id id, NodeId parent, Role role, unsigned depth) {
    const K owner = ast_.nodes[parent].kind;
    if ((owner == K::function || owner == K::lambda) && type_of(id) == "function_declarator") {
      const Id name = child_in(id, "declarator");
      if (name != kNoId) ast_.nodes[parent].text = text(name);
      for (Id c = id + 1; c < in_[id].end; c = in_[c].end) {
        if (field_name(c) == "parameters") one(c, parent, Role::parameters, depth + 1);
      }
      return;
    }
    descend(id, parent, role, depth);
  }

  /// C++: a::b::c becomes attribute c of attribute b of name a, as in Python.
  void qualified(Id id, NodeId parent, Role role) {
    std::vector<Id> parts;
    Id at = id;
    while (parts.size() < 32 && type_of(at) == "qualified_identifier") {
      const Id scope = child_in(at, "scope");
      if (scope != kNoId) parts.push_back(scope);
      const Id name = child_in(at, tables_.name_field);
      if (name == kNoId) break;
      at = name;
    }
    parts.push_back(at);
    std::vector<NodeId> opened;
    for (size_t i = parts.size(); i-- > 0;) {
      NodeId made = add(i == 0 ? K::name : K::attribute, opened.empty() ? role : Role::object,
                        opened.empty() ? parent : opened.back(), id);
      ast_.nodes[made].text = last_name(parts[i]);
      opened.push_back(made);
    }
    for (NodeId made : opened) close(made);
  }

  NodeId add(NodeKind kind, Role role, NodeId parent, Id from) {
    const SyntaxNode& node = in_[from];
    NodeId id = static_cast<NodeId>(ast_.nodes.size());
    Node& out = ast_.nodes.emplace_back();
    out.kind = kind;
    out.role = role;
    out.parent = parent;
    out.first_byte = node.first_byte;
    out.last_byte = node.last_byte;
    out.first_line = node.first_row + 1;
    out.last_line = node.last_row + 1;
    out.column = static_cast<uint16_t>(std::min<uint32_t>(node.first_column + 1, 0xffff));
    if (parent != kNoNode) {
      if (last_child_.size() <= parent) last_child_.resize(id + 64, kNoNode);
      NodeId& last = last_child_[parent];
      (last == kNoNode ? ast_.nodes[parent].first_child : ast_.nodes[last].next) = id;
      last = id;
    }
    return id;
  }
  void close(NodeId id) { ast_.nodes[id].end = static_cast<NodeId>(ast_.nodes.size()); }

  std::string_view text(Id id) const {
    return ast_.source.substr(in_[id].first_byte, in_[id].last_byte - in_[id].first_byte);
  }

  Ast& ast_;
  const GrammarTables& tables_;
  std::span<const SyntaxNode> in_;
  std::vector<NodeId> last_child_;
  std::vector<NodeId> scratch_;
};

}  // namespace

void convert_trees(std::span<const TSTree* const> trees, Ast& ast) {
  Converter converter(ast);
  for (const TSTree* tree : trees) converter.add_all(tree);
}

}  // namespace stallscope
