// Matchers for tensors that are formatted, or taken for sizes and indices.
#include <algorithm>
#include <utility>

#include "source/match/matcher.h"
#include "source/match/read_values.h"
#include "source/names/roles.h"
#include "source/syntax/words.h"

namespace stallscope {
namespace {

using K = NodeKind;

constexpr size_t kHeadOfText = 16;  ///< where a message says what it is

/// The last name of what a method is called on, as it is written there.
std::string_view name_called_on(const FileView& file, NodeId call) {
  const NodeId callee = file.ast.child(call, Role::callee);
  const NodeId object = callee == kNoNode ? kNoNode : file.ast.child(callee, Role::object);
  return object == kNoNode ? std::string_view() : last_component(file.ast.slice(object));
}

/// Whether what a method belongs to sums up tensors by its name, to be read at an interval.
bool sums_up(const FileView& file, NodeId call) {
  return contains_any(name_called_on(file, call),
                      {"integrator", "meter", "accumulator", "averager"});
}

/// writer.add_scalar("loss", loss, step), writer.add_histogram("weights", weights, step)
bool logs_numbers(const FileView& file, NodeId call) {
  const std::string_view name = callee_name(file.ast, call);
  return (is_one_of(name, {"add_scalar", "add_scalars", "add_histogram", "log_metric"}) &&
          !sums_up(file, call)) ||
         is_one_of(file.names.resolve(file.ast.child(call, Role::callee)).path,
                   {"wandb.log", "mlflow.log_metrics", "swanlab.log"}) ||
         (name == "log" && file.names.uses("wandb") &&
          is_one_of(name_called_on(file, call), {"run", "wandb_run", "_run"}));
}

/// What a call is handed as a record: {"loss": loss}, dict(loss=loss), or a variable made as one
/// of these; kNoNode for what is none.
NodeId record_of(const FileView& file, NodeId value) {
  const Ast& ast = file.ast;
  if (ast[value].kind == K::name && ast.grammar == Grammar::python)
    value = file.inference.definition(file.outline.function_of[value], ast[value].text, value);
  if (value == kNoNode) return kNoNode;
  const bool made = ast[value].kind == K::call && callee_name(ast, value) == "dict";
  return made || ast[value].kind == K::dict ? value : kNoNode;
}

/// {f"train/{k}": v for k, v in metrics.items()}: what each of its entries holds.
NodeId entry_of_comprehension(const Ast& ast, NodeId value) {
  const NodeId entry = ast[value].kind == K::comprehension ? ast[value].first_child : kNoNode;
  return entry != kNoNode && ast[entry].kind == K::pair ? ast.child(entry, Role::value) : kNoNode;
}

/// Whether the function reads `name` with .item(): where branches meet it may be a number already.
bool is_read_with_item(const FileView& file, NodeId name) {
  const Ast& ast = file.ast;
  const NodeId function = file.outline.functions[file.outline.function_of[name]];
  const std::string read = std::string(ast[name].text) + ".item";
  for (NodeId at = function; at < ast[function].end; ++at) {
    if (ast[at].kind == K::call && ast.slice(ast.child(at, Role::callee)) == read) return true;
  }
  return false;
}

/// Calls that put their arguments into text or into a log of numbers.
bool formats(const FileView& file, NodeId call) {
  std::string_view name = callee_name(file.ast, call);
  // jax.debug.print() is called back by the device.
  if (file.names.resolve(file.ast.child(call, Role::callee)).path.starts_with("jax.")) return false;
  if (name == "print" || name == "tqdm_write" || name == "set_postfix" ||
      name == "set_postfix_str" || name == "set_description" || name == "set_description_str" ||
      name == "print_rank_0" || name == "echo" || logs_numbers(file, call)) {
    return true;
  }
  NodeId callee = file.ast.child(call, Role::callee);
  if (file.ast[callee].kind == K::name)
    return file.ast.grammar == Grammar::python && (name == "str" || name == "repr");
  if (file.ast[callee].kind != K::attribute) return false;
  NodeId object = file.ast.child(callee, Role::object);
  if (object == kNoNode) return false;
  if (name == "format") return file.ast[object].kind == K::string;
  if (name == "info" || name == "debug")  // warnings are for what goes wrong
    return contains_any(file.ast.slice(object), {"log"});
  return false;
}

/// Whether the text goes into a warning or an error: those are for what goes wrong.
bool warns(const FileView& file, NodeId at) {
  for (; at != kNoNode && file.ast[at].kind != K::block; at = file.ast[at].parent) {
    if (file.ast[at].kind == K::raise) return true;
    if (file.ast[at].kind == K::call &&
        contains_any(callee_name(file.ast, at), {"warn", "error", "exception"}))
      return true;
    // print(f"[WARNING] {low}")
    if (file.ast[at].kind == K::string &&
        contains_any(file.ast.slice(at).substr(0, kHeadOfText), {"warning"}))
      return true;
  }
  return false;
}

/// total_num_params / 1e9: a count is a Python number nearly everywhere.
bool is_count(const Ast& ast, NodeId value) {
  for (NodeId at = value; at < ast[value].end; ++at) {
    if (ast[at].kind == K::name && contains_any(ast[at].text, {"num_param", "n_param"}))
      return true;
  }
  return false;
}

/// `loss, parts = self.step(batch)`, log(writer, loss), `for k, v in losses.items()` of what
/// callers hand in: the link knows whether that is a tensor. In programs of JAX also
/// metrics["loss"] and info.loss of such, and what a method gives.
bool is_known_elsewhere(const FileView& file, NodeId name) {
  const Value& value = file.inference.at(name);
  const Dependency* from = file.inference.dependency(value);
  const NodeKind kind = file.ast[name].kind;
  const bool jax = file.ast.grammar == Grammar::python && file.names.uses_jax();
  if (value.kind != Kind::unknown || !from ||
      (kind != K::name && !(jax && (kind == K::subscript || kind == K::attribute))))
    return false;
  if (from->kind == DependencyKind::parameter || from->kind == DependencyKind::entry ||
      from->kind == DependencyKind::element || (jax && from->by_call()))
    return file.ast.grammar == Grammar::python;
  if (from->kind != DependencyKind::part) return false;
  const Dependency* whole = file.inference.dependency(depending_on(from->function));
  return whole && whole->by_call();
}

}  // namespace

void find_formatted_tensors(const FileView& file, std::vector<Match>& out) {
  const Ast& ast = file.ast;
  auto report = [&](NodeId at, NodeId value) {
    const Value& v = file.inference.at(value);
    const bool open = is_known_elsewhere(file, value);
    // A stream of C++ prints all its elements.
    const bool parameter = v.kind == Kind::parameter && ast.grammar != Grammar::cuda;
    if (!open && (!v.is_device() || v.certainty < Certainty::likely || parameter)) return;
    if (warns(file, at) || is_count(ast, value)) return;
    // What a module of PyTorch gives may be an object; of JAX it is arrays, in whatever container.
    if (v.has(kModuleOutput) && v.kind != Kind::jax_array &&
        (ast[value].kind == K::name || ast[value].kind == K::subscript))
      return;
    out.push_back({at, v, {}});
  };
  for (NodeId id = 1; id < ast.size(); ++id) {
    const Node& node = ast[id];
    if (node.kind == K::interpolation) {
      NodeId value = ast.child(id, Role::value);
      if (value != kNoNode) report(value, value);
    } else if (node.kind == K::binary && node.text == "%" && node.first_child != kNoNode &&
               file.inference.at(node.first_child).kind == Kind::text) {
      NodeId values = ast[node.first_child].next;
      if (values == kNoNode) continue;
      if (ast[values].kind == K::tuple) {
        for (NodeId c : children(ast, values)) report(c, c);
      } else {
        report(values, values);
      }
    } else if (node.kind == K::binary && node.text == "<<" && ast.grammar == Grammar::cuda) {
      NodeId right = ast.child(id, Role::right);
      // into std::cout, LOG(INFO), a std::ostringstream: no tensor is shifted by a tensor
      const NodeId left = node.first_child;
      if (right != kNoNode && !file.inference.at(left).is_device()) report(right, right);
    } else if (node.kind == K::call && formats(file, id)) {
      for (NodeId c : children(ast, id)) {
        if (ast[c].role != Role::argument) continue;
        NodeId value = ast[c].kind == K::keyword ? ast.child(c, Role::value) : c;
        if (value == kNoNode) continue;
        const bool logged = logs_numbers(file, id);
        const auto consider = [&](NodeId at, NodeId item) {
          if (item != kNoNode &&
              !(logged && ast[item].kind == K::name && is_read_with_item(file, item)))
            report(at, item);
        };
        const NodeId record = record_of(file, value);
        const NodeId entry = logged ? entry_of_comprehension(ast, value) : kNoNode;
        if (entry != kNoNode && file.names.uses_jax()) {
          consider(value, entry);
          continue;
        }
        if (record == kNoNode) {
          consider(value, value);
          continue;
        }
        const size_t before = out.size();
        for (NodeId pair : children(ast, record)) {
          const NodeId item = ast.child(pair, Role::value);
          // One finding for a record that is made elsewhere.
          if (record == value) {
            consider(item, item);
          } else if (out.size() == before) {
            consider(value, item);
          }
        }
      }
    }
  }
}

namespace {

/// Which arguments of a call are numbers that PyTorch reads on the host: sizes and counts.
enum class Sizes : uint8_t { none, first, all, rest };

/// A size that is given by name: topk(x, k=n)
bool names_size(std::string_view keyword) {
  return is_one_of(keyword, {"k", "size", "num_classes", "output_size", "steps", "shifts"});
}

/// torch.zeros(b, lengths.max()), x.new_ones(n, d), x.view(-1, n), range(n), torch.topk(x, n)
Sizes sizes_of(const FileView& file, NodeId call) {
  const NodeId callee = file.ast.child(call, Role::callee);
  const std::string_view name = callee_name(file.ast, call);
  if (name == "range" || name == "arange") return Sizes::all;
  if (callee == kNoNode || file.ast.grammar != Grammar::python ||
      file.ast[callee].kind != K::attribute)
    return Sizes::none;
  const Dotted& path = file.names.resolve(callee);
  if (path.imported) {
    if (!path.path.starts_with("torch.")) return Sizes::none;
    if (name == "full") return Sizes::first;
    if (is_one_of(name, {"topk", "kthvalue", "narrow", "roll", "tile", "one_hot", "interpolate"}))
      return Sizes::rest;
    return is_one_of(name, {"zeros", "ones", "empty", "rand", "randn", "randint", "randperm", "eye",
                            "linspace"})
               ? Sizes::all
               : Sizes::none;
  }
  if (name == "new_full") return Sizes::first;
  if (is_one_of(name, {"new_zeros", "new_ones", "new_empty"})) return Sizes::all;
  const NodeId object = file.ast.child(callee, Role::object);
  const bool tensor = object != kNoNode && reads_device(file.inference.at(object));
  return tensor && is_one_of(name, {"view", "reshape", "expand", "repeat", "unflatten", "narrow",
                                    "topk", "kthvalue", "roll", "tile"})
             ? Sizes::all
             : Sizes::none;
}

/// A device tensor that a bound is.
const Value* read_bound(const FileView& file, NodeId bound) {
  const Value& v = file.inference.at(bound);
  return reads_device(v) && v.kind != Kind::mask ? &v : nullptr;
}

/// x[i, :lengths[i]], x[:, :lengths.max()], x[:length] of what callers hand in: the link knows
/// whether that is a tensor.
const Value* open_bound(const FileView& file, NodeId bound) {
  const Ast& ast = file.ast;
  NodeId object = ast[bound].kind == K::name ? bound : kNoNode;
  if (ast[bound].kind == K::subscript) object = ast.child(bound, Role::object);
  if (ast[bound].kind == K::call && is_one_of(callee_name(ast, bound), {"max", "min", "sum"}))
    object = ast.child(ast.child(bound, Role::callee), Role::object);
  if (object == kNoNode || ast[object].kind != K::name) return nullptr;
  const Value& v = file.inference.at(object);
  const Dependency* from = file.inference.dependency(v);
  const bool open = v.kind == Kind::unknown && from && from->kind == DependencyKind::parameter;
  return open ? &v : nullptr;
}

/// for n in lengths: what the innermost loop that binds `name` runs over, where that is a tensor
/// on the device; else kNoNode.
NodeId device_loop_of(const FileView& file, NodeId name) {
  const Ast& ast = file.ast;
  for (uint32_t loop = file.outline.loop_of[name]; loop != kNone;
       loop = file.facts.loops[loop].parent) {
    const NodeId node = file.outline.loops[loop];
    const NodeId bound = ast.child(node, Role::left), over = ast.child(node, Role::right);
    if (bound == kNoNode || over == kNoNode) continue;
    for (NodeId at = bound; at < ast[bound].end; ++at) {
      if (ast[at].kind == K::name && ast[at].text == ast[name].text)
        return reads_device(file.inference.at(over)) ? over : kNoNode;
    }
  }
  return kNoNode;
}

/// Whether `size` is computed here: sizes that are handed in or kept are numbers nearly everywhere.
bool is_computed(const FileView& file, NodeId size, unsigned hops = 4) {
  const Ast& ast = file.ast;
  if (ast[size].kind == K::call) return true;
  // torch.zeros(offsets[-1]) of a tensor
  if (ast[size].kind == K::subscript) {
    const NodeId whole = ast.child(size, Role::object);
    return whole != kNoNode && file.inference.at(whole).kind == Kind::device_tensor;
  }
  if (hops == 0) return false;
  if (ast[size].kind == K::name) {
    const NodeId made =
        file.inference.definition(file.outline.function_of[size], ast[size].text, size);
    return made == kNoNode ? device_loop_of(file, size) != kNoNode
                           : is_computed(file, made, hops - 1);
  }
  if (ast[size].kind != K::binary) return false;
  for (NodeId c : children(ast, size)) {
    if (read_bound(file, c) != nullptr && is_computed(file, c, hops - 1)) return true;
  }
  return false;
}

/// A device tensor among sizes, or among those in brackets: (n, lengths.max()).
const Value* read_size(const FileView& file, NodeId size) {
  const K kind = file.ast[size].kind;
  if (kind != K::tuple && kind != K::list) {
    const Value* read = read_bound(file, size);
    return read && is_computed(file, size) ? read : nullptr;
  }
  for (NodeId part : children(file.ast, size)) {
    if (const Value* read = read_size(file, part)) return read;
  }
  return nullptr;
}

/// [False] * lengths[i]: how often a list is repeated.
const Value* read_repeats(const FileView& file, NodeId product) {
  const NodeId list = file.ast[product].first_child;
  const NodeId times = list == kNoNode ? kNoNode : file.ast[list].next;
  return times != kNoNode && file.ast[product].text == "*" && file.ast[list].kind == K::list
             ? read_size(file, times)
             : nullptr;
}

/// scores.argmax(), torch.argmax(scores): a tensor of no dimensions.
bool is_position(const FileView& file, NodeId call) {
  const Ast& ast = file.ast;
  if (ast[call].kind != K::call || !is_one_of(callee_name(ast, call), {"argmax", "argmin"}))
    return false;
  const NodeId first = ast.child(call, Role::argument);
  if (!file.names.resolve(ast.child(call, Role::callee)).imported) return first == kNoNode;
  return first != kNoNode && ast[first].next == kNoNode && file.inference.at(first).is_device();
}

/// torch.randperm(n), labels.unique(), mask.nonzero().flatten(): a loop over it takes positions, or
/// what else has no dimensions.
bool is_row(const FileView& file, NodeId call, unsigned hops = 3) {
  const Ast& ast = file.ast;
  if (call != kNoNode && ast[call].kind == K::name)
    call = file.inference.definition(file.outline.function_of[call], ast[call].text, call);
  if (call == kNoNode || ast[call].kind != K::call || hops == 0) return false;
  const std::string_view name = callee_name(ast, call);
  const NodeId callee = ast.child(call, Role::callee), first = ast.child(call, Role::argument);
  const NodeId object =
      ast[callee].kind == K::attribute ? ast.child(callee, Role::object) : kNoNode;
  const bool function = file.names.resolve(callee).imported;
  if (is_one_of(name, {"arange", "randperm"})) return function;
  if (name == "unique")
    return function ? first != kNoNode && ast[first].next == kNoNode : first == kNoNode;
  if (function || object == kNoNode) return false;
  if (name == "flatten") return first == kNoNode;
  if (name == "view" || name == "reshape")
    return first != kNoNode && ast[first].next == kNoNode && ast.slice(first) == "-1";
  // mask.nonzero().squeeze(1), order.to(device)
  if (name == "squeeze") return callee_name(ast, object) == "nonzero";
  return is_one_of(name, {"to", "cuda", "long"}) && is_row(file, object, hops - 1);
}

/// for e in experts.unique(): whether a loop takes the variable from a row on the device.
bool is_of_row(const FileView& file, NodeId name) {
  const NodeId over = device_loop_of(file, name);
  return over != kNoNode && is_row(file, over);
}

/// Whether nothing before `index` takes an element by that name: once read, the device is done.
bool is_first_index(const FileView& file, NodeId index) {
  const Ast& ast = file.ast;
  const NodeId function = file.outline.functions[file.outline.function_of[index]];
  for (NodeId at = function + 1; at < index; ++at) {
    if (ast[at].kind == K::name && ast[at].role == Role::index && ast[at].text == ast[index].text)
      return false;
  }
  return true;
}

/// x[scores.argmax()], self.experts[e]: an index of no dimensions is read like a number.
bool is_read_index(const FileView& file, NodeId index) {
  const Ast& ast = file.ast;
  if (ast.grammar != Grammar::python || ast[index].role != Role::index ||
      !reads_device(file.inference.at(index)))
    return false;
  const NodeId object = ast.child(ast[index].parent, Role::object);
  // [1, 2, 3][kinds[i]]: a list takes a number
  if (object != kNoNode && ast[object].kind == K::list) return true;
  if (ast[index].kind != K::name) return is_position(file, index);
  const NodeId made =
      file.inference.definition(file.outline.function_of[index], ast[index].text, index);
  if (object != kNoNode && file.inference.at(object).kind == Kind::module) return true;
  return (made == kNoNode ? is_of_row(file, index) : is_position(file, made)) &&
         is_first_index(file, index);
}

}  // namespace

void find_tensor_slice_bounds(const FileView& file, std::vector<Match>& out) {
  const Ast& ast = file.ast;
  for (NodeId id = 1; id < ast.size(); ++id) {
    const Node& node = ast[id];
    if (node.kind == K::slice) {
      for (NodeId bound : children(ast, id)) {
        const Value* read = read_bound(file, bound);
        if (!read) read = open_bound(file, bound);
        if (read) {
          out.push_back({node.parent, *read, {}});
          break;
        }
      }
    } else if (is_read_index(file, id)) {
      out.push_back({node.parent, file.inference.at(id), {}});
    } else if (node.kind == K::call) {
      const Sizes sizes = sizes_of(file, id);
      if (sizes == Sizes::none) continue;
      const std::string_view name = callee_name(ast, id);
      const bool range = name == "range" || name == "arange";
      bool first = true;
      for (NodeId c : children(ast, id)) {
        if (ast[c].role != Role::argument) continue;
        const bool keyword = ast[c].kind == K::keyword;
        const bool passed = std::exchange(first, false) && sizes == Sizes::rest;
        const NodeId size = keyword ? ast.child(c, Role::value) : c;
        if (size == kNoNode || (keyword ? !names_size(ast[c].text) : passed)) continue;
        const Value* read = range ? read_bound(file, size) : read_size(file, size);
        if (!read) read = open_bound(file, size);
        if (read) {
          out.push_back({id, *read, {}});
          break;
        }
        if (sizes == Sizes::first) break;
      }
    } else if (const Value* read = node.kind == K::binary ? read_repeats(file, id) : nullptr) {
      out.push_back({id, *read, {}});
    }
  }
}

}  // namespace stallscope
