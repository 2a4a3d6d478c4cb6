// Matchers for conditions and choices that are decided by a tensor's value.
#include <algorithm>

#include "source/match/matcher.h"
#include "source/match/read_values.h"
#include "source/names/roles.h"
#include "source/syntax/words.h"

namespace stallscope {
namespace {

using K = NodeKind;

bool reduces(std::string_view method) {
  return is_one_of(method, {"sum", "max", "min", "mean", "amax", "amin", "count_nonzero"});
}

class Conditions {
 public:
  Conditions(const FileView& file, std::vector<Match>& out) : file_(file), out_(out) {}

  void test(NodeId id) {
    const Node& node = file_.ast[id];
    if (node.kind == K::boolean) {
      for (NodeId c : children(file_.ast, id)) test(c);
      return;
    }
    if (node.kind == K::unary && (node.text == "not" || node.text == "!")) {
      if (node.first_child != kNoNode) test(node.first_child);
      return;
    }
    if (node.kind == K::call) {
      std::string_view name = callee_name(file_.ast, id);
      // if bool(found.any()): what it reads decides
      const NodeId read = file_.ast.child(id, Role::argument);
      if (name == "bool" && read != kNoNode && file_.ast.grammar == Grammar::python)
        return test(read);
      // if any(unfinished): Python's own looks at one element after the other
      const NodeId callee = file_.ast.child(id, Role::callee);
      if ((name == "any" || name == "all") && read != kNoNode &&
          file_.ast[callee].kind == K::name && reads_device(file_.inference.at(read)))
        return add(id, file_.inference.at(read));
      const std::string& path = file_.names.resolve(callee).path;
      if (path == "torch.equal" || path == "torch.allclose") {
        if (compares_on_host(id)) return;
        add(id, file_.inference.at(id).kind == Kind::number
                    ? Value{Kind::device_tensor, Certainty::likely}
                    : Value{});
        return;
      }
      // outputs.contains("energy"): of what is kept by names
      if (file_.ast.grammar == Grammar::cuda &&
          is_one_of(name, {"contains", "has_value", "empty", "defined"}))
        return;
      // at::isFloatingType(dtype)
      if (file_.ast.grammar == Grammar::cuda && name.starts_with("is") && name.size() > 2 &&
          name[2] >= 'A' && name[2] <= 'Z')
        return;
    }
    if (node.kind == K::compare && (node.text == "in" || node.text == "not in")) {
      test_membership(id);
      return;
    }
    const Value& value = file_.inference.at(id);
    if (is_open(id, value)) {
      out_.push_back({id, value, {}});
      return;
    }
    if (is_flag_of_jax(id)) return add(id, value);
    if (!reads_device(value)) return;
    if (node.kind == K::compare && (compares_sizes(id) || asks_for_sentinel(id))) return;
    // `if delta > 0` of a parameter: JAX lets a compiled function decide on Python values only.
    if (node.kind == K::compare && value.kind == Kind::jax_array && compares_parameter(id)) return;
    // A bare name is often an optional argument or a flag: `if mask:` needs proof.
    if (node.kind == K::name && value.kind != Kind::mask && value.certainty < Certainty::proven)
      return;
    const Dependency* on = file_.inference.dependency(value);
    if (node.kind == K::name && on && on->kind != DependencyKind::derived) return;
    if (node.kind == K::subscript && !is_element_of_mask(id)) return;
    if (node.kind == K::attribute && !is_kept_tensor(id)) return;
    add(id, value);
  }

 private:
  /// torch.allclose(loaded["weight"], weight.cpu()): what PyTorch compares is on one side.
  bool compares_on_host(NodeId call) const {
    for (const NodeId c : children(file_.ast, call)) {
      const Value& value = file_.inference.at(c);
      if (file_.ast[c].role == Role::argument && value.kind == Kind::host_tensor &&
          value.certainty >= Certainty::likely)
        return true;
    }
    return false;
  }

  /// `0.0 in mask`: whether any element is. `labels[0] in (1, 2)`: compared with one after the
  /// other.
  void test_membership(NodeId id) {
    const NodeId left = file_.ast.child(id, Role::left), right = file_.ast.child(id, Role::right);
    if (left == kNoNode || right == kNoNode) return;
    const K sought = file_.ast[left].kind, among = file_.ast[right].kind;
    if (sought == K::number && reads_device(file_.inference.at(right)))
      add(id, file_.inference.at(right));
    else if ((among == K::tuple || among == K::list) && holds_numbers(right) &&
             (sought == K::subscript || sought == K::call) &&
             reads_device(file_.inference.at(left)))
      add(id, file_.inference.at(left));
  }
  bool holds_numbers(NodeId list) const {
    for (NodeId c : children(file_.ast, list)) {
      if (file_.ast[c].kind != K::number) return false;
    }
    return file_.ast[list].first_child != kNoNode;
  }
  /// `if lengths.max() > n` of what callers hand in, `if is_nan(loss)` of what another function
  /// gives: the link knows whether that is a tensor.
  bool is_open(NodeId id, const Value& value) const {
    if (file_.ast.grammar != Grammar::python || value.kind != Kind::unknown ||
        value.dependency == 0)
      return false;
    const Node& node = file_.ast[id];
    if (node.kind == K::name && file_.names.uses_jax())
      return names_flag(node.text) && !is_of_environment(id);
    if (node.kind == K::call)
      return contains_any(callee_name(file_.ast, id), {"nan", "inf", "finite", "overflow"});
    return node.kind == K::compare && !compares_sizes(id);
  }
  /// if done[i]: of what was compared, element by element.
  bool is_element_of_mask(NodeId id) const {
    const NodeId object = file_.ast.child(id, Role::object);
    const NodeId index = file_.ast.child(id, Role::index);
    if (object == kNoNode || index == kNoNode || file_.ast[index].kind == K::string) return false;
    const Value& whole = file_.inference.at(object);
    return whole.kind == Kind::mask && !whole.has(kModuleOutput);
  }
  /// self.steps of a module that keeps it in a buffer.
  bool is_kept_tensor(NodeId id) const {
    const Value& v = file_.inference.at(id);
    return file_.ast[id].kind == K::attribute && reads_device(v) && v.has(kAttribute) &&
           v.certainty == Certainty::proven;
  }
  static bool names_flag(std::string_view name) {
    return has_word(name, {"nan", "inf", "done", "dones", "converged", "finite", "terminated",
                           "truncated", "finished", "accepted", "diverged", "overflow"});
  }
  /// `done` beside env.step(action): what an environment gives is a truth of Python's as often.
  bool is_of_environment(NodeId name) const {
    const NodeId function = file_.outline.functions[file_.outline.function_of[name]];
    return has_word(file_.ast[name].text, {"done", "dones", "terminated", "truncated"}) &&
           file_.ast.slice(function).find(".step(") != std::string_view::npos;
  }
  /// `bad = jnp.isnan(loss)`, `state, done = step(state)`, `state.done` of what a compiled function
  /// gives: JAX's truth, computed here.
  bool is_flag_of_jax(NodeId id) const {
    const Node& node = file_.ast[id];
    if (file_.inference.at(id).kind != Kind::jax_array || is_parameter(id)) return false;
    if (node.kind == K::attribute) return names_flag(node.text);
    if (node.kind != K::name) return false;
    if (names_flag(node.text)) return !is_of_environment(id);
    const NodeId made = file_.inference.definition(file_.outline.function_of[id], node.text, id);
    return made != kNoNode &&
           (file_.ast[made].kind == K::compare ||
            (file_.ast[made].kind == K::call &&
             is_one_of(callee_name(file_.ast, made),
                       {"any", "all", "isnan", "isinf", "isfinite", "allclose", "array_equal",
                        "logical_and", "logical_or", "logical_not"})));
  }
  /// Whether a name is that of an argument of the function around it.
  bool is_parameter(NodeId id) const {
    const auto& names = file_.facts.functions[file_.outline.function_of[id]].parameters;
    return file_.ast[id].kind == K::name &&
           std::ranges::find(names, file_.ast[id].text) != names.end();
  }
  bool compares_parameter(NodeId id) const {
    const NodeId left = file_.ast.child(id, Role::left);
    return left != kNoNode && is_parameter(left) &&
           file_.inference.definition(file_.outline.function_of[id], file_.ast[left].text, id) ==
               kNoNode;
  }
  /// `num_params < chunk_size`, `x.nbytesize() == 1`: such names are Python numbers nearly
  /// everywhere. What is compared with a list or a class is one.
  bool compares_sizes(NodeId id) const {
    for (NodeId c : children(file_.ast, id)) {
      if (is_kept_tensor(c)) return false;
    }
    for (NodeId c : children(file_.ast, id)) {
      const K kind = file_.ast[c].kind;
      // mode == Mode.MAX, dtype == torch.float32
      if (kind == K::attribute) {
        const std::string_view owner = file_.ast.slice(file_.ast.child(c, Role::object));
        if (owner == "torch" || is_class_name(last_component(owner))) return true;
      }
      const std::string_view name = kind == K::call ? callee_name(file_.ast, c) : file_.ast[c].text;
      if (kind == K::list) return true;
      // width % self.n_heads != 0
      const NodeId by = kind == K::binary && name == "%" ? last_child(file_.ast, c) : kNoNode;
      if (by != kNoNode && is_count_name(file_.ast[by].text)) return true;
      if (kind == K::call && (name.ends_with("size") || name.starts_with("type")) &&
          !is_beside_tensor(id, c))
        return true;
      if (kind == K::name && is_reduced_here(c)) continue;
      // norm > max_norm: of two, it is the tensor whose name must not be that of a count.
      if ((kind == K::name || kind == K::attribute) &&
          (is_class_name(name) || (is_count_name(name) && !is_beside_tensor(id, c))))
        return true;
    }
    return false;
  }
  /// output == -1 of what a model gave: a number in the place of its tensors.
  bool asks_for_sentinel(NodeId compare) const {
    const NodeId left = file_.ast.child(compare, Role::left);
    const NodeId right = file_.ast.child(compare, Role::right);
    return left != kNoNode && right != kNoNode && file_.ast[left].kind == K::name &&
           file_.ast.slice(right) == "-1" && file_.inference.at(left).has(kModuleOutput);
  }
  /// Whether the other operand is a tensor that this function computes, under no such name.
  bool is_beside_tensor(NodeId compare, NodeId operand) const {
    if (reads_device(file_.inference.at(operand))) return false;
    for (NodeId c : children(file_.ast, compare)) {
      const Node& node = file_.ast[c];
      if (c == operand) continue;
      // lengths.max() of whatever lengths is
      if (node.kind == K::call && reduces(callee_name(file_.ast, c))) return true;
      if (!reads_device(file_.inference.at(c))) continue;
      if (node.kind == K::call ||
          (node.kind == K::name && !is_count_name(node.text) &&
           file_.inference.definition(file_.outline.function_of[c], node.text, c) != kNoNode))
        return true;
    }
    return false;
  }
  /// n_valid = (labels != ignored).sum(): a count that the device makes, whatever its name says.
  bool is_reduced_here(NodeId name) const {
    if (!reads_device(file_.inference.at(name))) return false;
    const NodeId made =
        file_.inference.definition(file_.outline.function_of[name], file_.ast[name].text, name);
    return made != kNoNode && file_.ast[made].kind == K::call &&
           reduces(callee_name(file_.ast, made)) && reads_device(file_.inference.at(made));
  }
  /// nn.LinearReLU
  static bool is_class_name(std::string_view name) {
    return name.size() > 3 && name[0] >= 'A' && name[0] <= 'Z' &&
           std::ranges::count_if(name, [](char c) { return c >= 'a' && c <= 'z'; }) > 2;
  }
  void add(NodeId id, const Value& value) {
    if (value.kind != Kind::unknown) out_.push_back({id, value, {}});
  }
  const FileView& file_;
  std::vector<Match>& out_;
};

/// `mask.sum() or 1`, outside of conditions: which operand it is depends on the first one's value.
/// `check(not torch.isnan(loss).any())`: what is not is a value of Python's.
void find_tensor_choices(const FileView& file, std::vector<Match>& out) {
  Conditions conditions(file, out);
  const auto is_choice = [&](NodeId id) {
    return file.ast[id].kind == K::boolean ||
           (file.ast[id].kind == K::unary && file.ast[id].text == "not");
  };
  for (NodeId id = 1; id < file.ast.size(); ++id) {
    if (!is_choice(id) || file.ast.grammar != Grammar::python) continue;
    NodeId top = id;
    while (is_choice(file.ast[top].parent)) top = file.ast[top].parent;
    if (file.ast[top].role == Role::condition) continue;
    const NodeId read =
        file.ast[id].kind == K::unary ? file.ast[id].first_child : file.ast.child(id, Role::left);
    if (read != kNoNode && file.ast[read].kind == K::call) conditions.test(read);
  }
}

/// max(mask.sum(), 1), any(loss > 3 for loss in losses): Python's own compares, so the host must
/// know each tensor's value. Of a name this function itself must say what it is.
void find_compared_arguments(const FileView& file, std::vector<Match>& out) {
  const Ast& ast = file.ast;
  auto is_read = [&](NodeId argument) {
    const Value& v = file.inference.at(argument);
    const bool tensors = v.kind == Kind::tensor_list && v.certainty >= Certainty::likely &&
                         !v.has(kModuleOutput) && !v.has(kParameterLoop);
    return (tensors || (reads_device(v) && v.kind != Kind::jax_array)) &&
           (ast[argument].kind != K::name ||
            file.inference.definition(file.outline.function_of[argument], ast[argument].text,
                                      argument) != kNoNode);
  };
  auto is_array = [&](NodeId at) {
    const Value& v = file.inference.at(at);
    return v.kind == Kind::jax_array && v.certainty >= Certainty::likely;
  };
  auto holds_array = [&](NodeId argument) {
    for (NodeId at = argument; at < ast[argument].end; ++at) {
      if (ast[at].kind == K::name && is_array(at)) return true;
    }
    return false;
  };
  for (NodeId id = 1; id < ast.size(); ++id) {
    if (ast[id].kind != K::call || ast.grammar != Grammar::python) continue;
    const NodeId callee = ast.child(id, Role::callee);
    if (callee == kNoNode || ast[callee].kind != K::name) continue;
    const std::string_view name = ast[callee].text;
    const bool tests = name == "any" || name == "all";
    if ((name != "max" && name != "min" && name != "sorted" && !tests) ||
        !file.names.import_of(name).empty())
      continue;
    std::vector<NodeId> arguments;
    bool by_key = false;  // max(boxes, key=len) compares something else
    for (NodeId c : children(ast, id)) {
      by_key |= ast[c].kind == K::keyword && ast[c].text == "key";
      // Of sorted(batch.items()) the names are compared, and no two are the same.
      const bool items = ast[c].kind == K::call && callee_name(ast, c) == "items";
      if (ast[c].role == Role::argument && ast[c].kind != K::keyword && !items)
        arguments.push_back(c);
    }
    if (by_key) continue;
    // What any(values) and all(values) of a name hold is rarely tensors. any(labels > 3) is
    // Python's.
    if (tests && (arguments.size() != 1 || (ast[arguments[0]].kind != K::comprehension &&
                                            ast[arguments[0]].kind != K::compare)))
      continue;
    const auto tensor = std::ranges::find_if(arguments, is_read);
    const auto array = std::ranges::find_if(arguments, [&](NodeId argument) {
      // jnp.ceil(n / groups) of numbers is computed while the step is traced
      return is_array(argument) && holds_array(argument);
    });
    if (array != arguments.end() && arguments.size() > 1)
      out.push_back({id, likely(Kind::jax_array, kJax), {}});
    else if (tensor != arguments.end())
      out.push_back({id, likely(Kind::device_tensor, file.inference.at(*tensor).flags), {}});
  }
}

/// `if name in inputs: x = inputs[name]`: inputs is a mapping, whatever it is declared to hold.
bool is_looked_up(const FileView& file, NodeId key, NodeId mapping) {
  const Ast& ast = file.ast;
  const NodeId function = file.outline.functions[file.outline.function_of[key]];
  const std::string entry =
      std::string(ast.slice(mapping)) + "[" + std::string(ast.slice(key)) + "]";
  return ast.slice(function).find(entry) != std::string_view::npos;
}

/// `i in ids`, of a tensor: compares with each of its elements and asks whether any is equal. What
/// a module gives may be a record, and what has a text among its keys is one.
void find_elements_asked_for(const FileView& file, std::vector<Match>& out) {
  const Ast& ast = file.ast;
  if (ast.grammar != Grammar::python) return;
  for (NodeId id = 1; id < ast.size(); ++id) {
    if (ast[id].kind != K::compare || !is_one_of(ast[id].text, {"in", "not in"})) continue;
    const NodeId left = ast.child(id, Role::left), right = ast.child(id, Role::right);
    if (left == kNoNode || right == kNoNode || ast[left].kind == K::string) continue;
    const Value& whole = file.inference.at(right);
    const Kind asked = file.inference.at(left).kind;
    if (whole.kind == Kind::device_tensor && !whole.has(kModuleOutput) &&
        whole.certainty >= Certainty::likely && asked != Kind::text &&
        !is_looked_up(file, left, right))
      out.push_back({id, whole, {}});
  }
}

}  // namespace

void find_tensor_conditions(const FileView& file, std::vector<Match>& out) {
  Conditions conditions(file, out);
  for (NodeId id = 1; id < file.ast.size(); ++id) {
    const Node& node = file.ast[id];
    // [p.std() for p in parameters if p.std() > 0]
    if (node.kind == K::comp_if && node.first_child != kNoNode) conditions.test(node.first_child);
    if (node.role != Role::condition) continue;
    const K parent = file.ast[node.parent].kind;
    if (parent == K::if_ || parent == K::elif_ || parent == K::while_ || parent == K::conditional ||
        (parent == K::assert_ && file.ast.grammar == Grammar::python)) {
      conditions.test(id);
    }
  }
  find_tensor_choices(file, out);
  find_compared_arguments(file, out);
  find_elements_asked_for(file, out);
}

}  // namespace stallscope
