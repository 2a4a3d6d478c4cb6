// Forward inference: one pass over a file gives every expression a Value.
#pragma once

#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "source/facts/type_facts.h"
#include "source/names/outline.h"
#include "source/values/apis.h"

namespace stallscope {

/// `x is y`, `x in y`: a Python bool whatever they are.
inline bool is_identity_test(std::string_view op) {
  return op == "is" || op == "is not" || op == "in" || op == "not in";
}

class Inference {
 public:
  /// `types`: what libclang knows of a C++ file; null = nothing.
  Inference(const Ast& ast, const Names& names, const Outline& outline, FileFacts& facts,
            const ClangTypes* types = nullptr);

  void run();
  const Value& at(NodeId id) const { return values_[id]; }
  /// Whether a file can hold tensors at all: C++ that never names Torch cannot.
  bool has_tensors() const { return has_tensors_; }
  /// C++: whether `source` is what `target` is built from, Buffer target(source), not its value.
  bool is_built_from(NodeId target, NodeId source) const;
  /// Whether libclang says that this is an object of the program's own, and no tensor or stream.
  bool is_own_object(NodeId id) const;
  /// The function of this file that `callee` names, or kNone.
  uint32_t local_function(NodeId callee) const;
  /// The same, and of C++ a method of the caller's own class: is_refining(iter).
  uint32_t own_function(NodeId callee) const;
  /// The expression last assigned to `name` in `function` before `before`, or kNoNode.
  NodeId definition(uint32_t function, std::string_view name, NodeId before) const;
  /// Whether a device, as it is written in `function`, is the host: "cpu", or a name, no
  /// argument's, to which the file assigns nothing else: device = "cpu"
  bool is_host_device(uint32_t function, std::string_view text) const;
  const Dependency* dependency(const Value& value) const;
  /// What stands for a parameter of which only callers know what it is (Value::dependency), or 0.
  uint32_t parameter_dependency(uint32_t function, uint32_t index) const;

 private:
  struct Entry {
    Value value;
    size_t whole = 0;  ///< the binding of the mapping that it is in
  };
  struct Scope {
    std::unordered_map<std::string_view, Value> variables;
    std::unordered_map<std::string_view, size_t>
        bound;  ///< the last binding of each, counted from 1
    std::unordered_set<std::string_view> used_as_tensor, used_as_module;
    std::unordered_set<std::string_view> given_as_tensor;  ///< torch.cumsum(x, 0), x.device
    std::unordered_set<std::string_view> moved;            ///< x.to(device)
    /// Per comprehension, of the names that it binds: used_as_tensor in it.
    std::unordered_map<NodeId, std::unordered_set<std::string_view>> elements_used_as_tensor;
    /// By "name[key", what the function put into its mappings.
    std::map<std::string, Entry, std::less<>> entries;
    bool uses_numpy = false;
  };
  using Attributes = std::unordered_map<std::string_view, Value>;
  /// What a variable holds behind a part of the program in which it holds something else. One that
  /// the function itself has not bound may be that of a function around it.
  class Held {
   public:
    Held(Scope& scope, std::string_view name) : variables_(scope.variables), name_(name) {
      const auto known = variables_.find(name);
      if (known != variables_.end()) before_ = known->second;
    }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    ~Held() {
      if (before_)
        variables_[name_] = *before_;
      else
        variables_.erase(name_);
    }

   private:
    std::unordered_map<std::string_view, Value>& variables_;
    const std::string_view name_;
    std::optional<Value> before_;
  };

  using Assignments = std::unordered_map<std::string_view, std::vector<NodeId>>;
  Value carried_into(NodeId id);
  Value carried_from(const Assignments& assignments, NodeId id);
  bool is_torchs(NodeId id) const;
  bool is_comparison(std::string_view name, NodeId before) const;
  bool is_reversed(NodeId id) const;
  bool is_element_of_row(NodeId subscript) const;
  bool is_of_tensors_axes(NodeId subscript) const;
  NodeId compared(NodeId id, unsigned hops = 4) const;
  bool asks_elements(NodeId name, NodeId object) const;
  bool asks_in_brackets(NodeId index) const;
  void note_field(NodeId declaration, NodeId name);
  Value declared_value(std::string_view type) const;
  Value declared_result(std::string_view type) const;
  Value declared_value(NodeId declaration, NodeId name) const;
  static Value declared_vector(std::string_view type);
  Value field_value(std::string_view name) const;
  void run_function(uint32_t function);
  void find_evidence(uint32_t function);
  bool is_handed_a_loss(NodeId call) const;
  void declare(Value& value, std::string_view type);
  void note_use(NodeId node, Scope& scope);
  NodeId comprehension_of(NodeId name) const;
  void keep_buffer(NodeId call);
  bool is_asked_as_tensor(NodeId object) const;
  bool is_given_to_forward(NodeId name) const;
  void keep_class_attribute(NodeId target, const Value& value);
  void note_device(NodeId attribute, Scope& scope);
  void bind_parameters(uint32_t function);
  Value parameter_value(uint32_t function, uint32_t index, NodeId parameter);
  void statements(NodeId id);
  void statement(NodeId id);
  void return_parts(NodeId value);
  void assign(NodeId target, const Value& given, NodeId source);
  Value kept_place(NodeId target, const Value& given);
  Value iterator_of(const Value& vector, std::string_view method) const;
  void assign_tuple(NodeId target, const Value& value, NodeId source);
  Value module_output(const Value& module) const;
  bool runs_made_step(NodeId call, const Value& given) const;
  bool takes_keys(NodeId loop, NodeId target, NodeId over) const;
  void bind_loop(NodeId loop);
  Value element_of(const Value& container, NodeId source);
  Value element_value(const Value& container);
  void learn_from_test(NodeId condition);
  NodeId asked_for_array(NodeId branch, NodeId condition) const;
  void run_branches(NodeId id);
  void run_without_tensor(NodeId branch, NodeId name, bool passed_by);
  void run_of_class(NodeId branch, NodeId condition);
  void join_elsewhere(size_t from);
  struct Rebound {
    std::string_view name;
    Value value;       ///< that a branch left in it
    size_t bound = 0;  ///< by which binding
  };
  std::vector<Rebound> take_back(size_t from, size_t start);
  void give_back(const std::vector<Rebound>& of_others, bool left);
  void restore_replaced(NodeId branch, size_t from);

  Value eval(NodeId id);
  const TypedRange* type_at(NodeId id) const;
  Value typed(NodeId id, const Value& inferred);
  Value eval_children(NodeId id);
  void run_lambda(NodeId id);
  Value eval_name(NodeId id);
  bool is_made_as_list(NodeId name) const;
  Value eval_attribute(NodeId id);
  Value eval_call(NodeId id);
  Value call_function(NodeId id, NodeId callee, const CallShape& shape);
  void take_checked(NodeId call, std::string_view called);
  bool joins_masks(NodeId call, std::string_view path) const;
  std::optional<Value> mapped_tree(NodeId call, std::string_view path,
                                   const CallShape& shape) const;
  Value object_of(std::string_view class_name);
  Value given_by(uint32_t function, std::string name);
  bool returns_once(uint32_t function) const;
  bool gives_arrays(uint32_t function) const;
  bool is_of_callers(const Value& value) const;
  Value call_builtin(NodeId id, std::string_view name, const CallShape& shape, bool& known);
  Value next_of(NodeId iterator, const Value& over);
  bool is_moved_tensor(const Value& receiver, NodeId object, const CallShape& call) const;
  Value call_method(NodeId id, NodeId callee, const Value& receiver, const CallShape& shape);
  bool may_name_device(NodeId argument) const;
  CallShape shape_of(NodeId call);
  bool is_called_mask(NodeId id, unsigned hops = 4) const;
  bool holds_places(NodeId name) const;
  bool selects(NodeId index, const Value& container, NodeId subscript) const;
  void take_masks(NodeId call);
  Value eval_subscript(NodeId id);
  size_t binding_of(std::string_view name) const;
  std::pair<std::string_view, std::string_view> entry_at(NodeId subscript) const;
  void keep_entry(NodeId subscript, const Value& value);
  void keep_entries(NodeId target, NodeId source);
  void add_entries(NodeId mapping, NodeId source);
  const Value* kept_entry(NodeId subscript) const;
  bool names_tensors(NodeId call) const;
  void return_entries(NodeId value);
  uint32_t entry_of_given(NodeId subscript);
  Value values_of_given(const Value& mapping, NodeId call);
  void update_entries(NodeId mapping, NodeId call);
  bool is_given(const Value& value) const;
  bool may_hold_entries(const Value& value) const;
  bool is_own_kind_of_object(const Value& value) const;
  Value given_by_method(const Value& object, std::string_view name);
  uint32_t part_of_given(NodeId subscript);
  Value eval_operator(NodeId id);
  bool is_difference_of_parts(NodeId id) const;
  Value eval_without_tensor(NodeId id, NodeId name);
  Value eval_comprehension(NodeId id);
  Value list_made(NodeId comprehension);
  Value eval_collection(NodeId id);
  Value self_attribute(std::string_view name) const;
  Value attribute_of(uint32_t klass, std::string_view name) const;
  /// A function as a value, of this file or imported; unknown if `id` names none.
  Value function_value(NodeId id);
  uint32_t depend(DependencyKind kind, std::string name, uint32_t function = 0, uint32_t index = 0);
  /// `merged` of two values, with what it depends on if that is two things.
  /// A tensor that PyTorch computed from what `value` depends on: only where it is is open.
  Value derived(Value value);
  Value of_both(const Value& a, const Value& b, Value merged);
  bool is_self(NodeId id) const;
  bool method_exists(uint32_t klass, std::string_view name) const;

  const Ast& ast_;
  const Names& names_;
  const Outline& outline_;
  FileFacts& facts_;
  const ClangTypes* types_;
  std::vector<Value> values_;
  std::vector<Scope> scopes_;           // per function
  std::vector<Attributes> attributes_;  // per class
  bool uses_thrust_ = false;            ///< then what is declared says what a copy crosses
  std::unordered_map<std::string_view, std::vector<uint32_t>> functions_by_name_;
  std::unordered_map<std::string_view, uint32_t> classes_by_name_;
  std::unordered_map<std::string_view, Value> fields_;  ///< of records, by declared type
  /// Assignments by name, in order.
  Assignments definitions_;
  /// The same of a, b = f(x), in files that use JAX.
  Assignments unpacked_;
  std::unordered_map<NodeId, Value> carried_;  ///< what such assignments give, seen from before
  std::map<std::string, uint32_t> dependency_ids_;
  std::vector<uint8_t> state_;       // per function: 0 new, 1 running, 2 done
  std::vector<uint8_t> parts_vary_;  // per function: it does not always return one tuple
  size_t bindings_ = 0;              // of names, so far
  std::vector<std::pair<std::string_view, Value>> replaced_;  // by a value on the other side
  std::vector<std::pair<std::string_view, Value>> rebound_;   // what variables held before
  /// Values of names, as the branches before an alternative left them, which binds them anew.
  std::vector<std::pair<std::string_view, Value>> elsewhere_;
  /// The alternative that is run: the bindings of the branches before it, from behind `begin` to
  /// `end`, and where its part of `elsewhere_` begins.
  struct Alternative {
    size_t begin = 0, end = 0, elsewhere = 0;
  };
  Alternative alternative_;
  uint32_t function_ = 0;
  bool has_tensors_ = true;
  bool device_default_ = false;  // set_default_device was called
  bool looks_ahead_ = false;     // reads an assignment before its turn
  unsigned depth_ = 0;
};

}  // namespace stallscope
