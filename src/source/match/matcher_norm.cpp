// The matcher for a convolution whose bias batch norm takes away again.
#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/text.h"
#include "source/match/matcher.h"
#include "source/syntax/words.h"

namespace stallscope {
namespace {

using K = NodeKind;

/// Classes of this file that are a convolution and no more, with a bias unless told otherwise:
/// class Conv(nn.Module): def __init__(self, ..., bias=True): self.conv = nn.Conv1d(..., bias=bias)
using Wrappers = std::unordered_set<std::string_view>;

Wrappers convolution_wrappers(const FileView& file) {
  Wrappers out;
  if (file.ast.grammar != Grammar::python) return out;
  for (const NodeId klass : file.outline.classes) {
    const std::string_view text = file.ast.slice(klass);
    if (text.find("bias=True") != std::string_view::npos &&
        text.find("bias=bias") != std::string_view::npos && contains_any(text, {"nn.conv"}) &&
        !contains_any(text, {"batchnorm", "batch_norm", "relu", "activation", "pool", "dropout"}))
      out.insert(file.ast[klass].text);
  }
  return out;
}

/// flax.linen.Conv, haiku.Conv2D, pax.Conv2D
bool is_convolution_of_jax(const Dotted& path) {
  return path.imported &&
         is_one_of(first_component(path.path), {"flax", "haiku", "pax", "objax"}) &&
         is_one_of(last_component(path.path),
                   {"Conv", "Conv1D", "Conv2D", "Conv3D", "ConvTranspose", "Conv2DTranspose"});
}

/// C++: Conv2dOptions(3, 64, 3) of Conv2d(options), where the function has it as a variable.
std::string_view options_of(const FileView& file, NodeId argument) {
  if (file.ast[argument].kind != K::name) return {};
  const NodeId made = file.inference.definition(file.outline.function_of[argument],
                                                file.ast[argument].text, argument);
  return made == kNoNode ? std::string_view() : file.ast.slice(made);
}

/// Whether a call makes a convolution with a bias, as far as it says.
bool makes_biased_convolution(const FileView& file, NodeId call, const Wrappers& wrappers) {
  const Ast& ast = file.ast;
  if (ast[call].kind != K::call) return false;
  const std::string_view made = callee_name(ast, call);
  if (!is_one_of(made, {"Conv1d", "Conv2d", "Conv3d", "ConvTranspose2d"}) &&
      !wrappers.contains(made) &&
      !(made.starts_with("Conv") &&
        is_convolution_of_jax(file.names.resolve(ast.child(call, Role::callee)))))
    return false;
  for (NodeId c : children(ast, call)) {
    if (ast[c].kind == K::keyword && is_one_of(ast[c].text, {"bias", "use_bias", "with_bias"}))
      return ast.slice(ast.child(c, Role::value)) == "True";
    if (ast[c].kind == K::star) return false;
  }
  if (ast.grammar == Grammar::python) return true;
  // LibTorch: Conv2d(Conv2dOptions(3, 64, 3).padding(1)), Conv2d(3, 64, 3), Conv2d(options)
  const NodeId first = ast.child(call, Role::argument);
  if (first == kNoNode) return false;
  const std::string_view options = options_of(file, first), text = ast.slice(call);
  return text.find(".bias(") == std::string_view::npos &&
         options.find(".bias(") == std::string_view::npos &&
         ((options.empty() ? text : options).find("Options(") != std::string_view::npos ||
          ast[first].kind == K::number);
}

/// LibTorch: conv1(torch::nn::Conv2dOptions(3, 64, 7).stride(1)) in front of a constructor's body.
bool initializes_biased_convolution(const Ast& ast, NodeId assign) {
  const std::string_view text = ast.slice(assign);
  return ast.grammar == Grammar::cuda && ast[assign].text.empty() &&
         contains_any(text, {"conv1doptions(", "conv2doptions(", "conv3doptions("}) &&
         !contains_any(text, {"nn::conv1d(", "nn::conv2d(", "nn::conv3d("}) &&
         text.find(".bias(") == std::string_view::npos;
}

/// bn1(64), norm_(torch::nn::BatchNorm2dOptions(64)): likewise, of what is called a batch norm.
bool initializes_norm(const Ast& ast, NodeId assign) {
  const std::string_view name = ast.slice(ast.child(assign, Role::left));
  return ast.grammar == Grammar::cuda && ast[assign].text.empty() &&
         (name.starts_with("bn") || name.ends_with("bn") ||
          contains_any(ast.slice(assign), {"batchnorm"}));
}

bool makes_norm(const Ast& ast, NodeId call) {
  if (ast[call].kind != K::call) return false;
  const std::string_view made = callee_name(ast, call);
  return made.starts_with("BatchNorm") || made.starts_with("SyncBatchNorm") ||
         made.starts_with("SynchronizedBatchNorm") || made.starts_with("InPlaceABN") ||
         made == "Norm2d";
}

/// self.bn(self.conv(x)[:, :, :-4]): what of the result is handed on.
NodeId cut(const Ast& ast, NodeId call) {
  while (ast[ast[call].parent].kind == K::subscript && ast[call].role == Role::object)
    call = ast[call].parent;
  return call;
}

/// Whether a norm, which `is_norm` knows by its call, is all that is given what `call` gives.
template <typename IsNorm>
bool goes_to_norm(const Ast& ast, NodeId call, const IsNorm& is_norm) {
  call = cut(ast, call);
  const NodeId around = ast[call].parent;
  if (ast[call].role == Role::argument) return is_norm(around);
  const NodeId name = ast[around].kind == K::assign && ast[call].role == Role::right
                          ? ast.child(around, Role::left)
                          : kNoNode;
  const NodeId behind = name == kNoNode ? kNoNode : ast[around].next;
  if (behind == kNoNode || ast[behind].kind != K::assign ||
      ast.slice(ast.child(behind, Role::left)) != ast.slice(name))
    return false;
  // x = self.bn(x), x = self.conv2(relu(self.bn(x))): the norm alone is given it
  unsigned named = 0, normed = 0;
  const NodeId right = ast.child(behind, Role::right);
  for (NodeId at = right; at != kNoNode && at < ast[right].end; ++at) {
    if (ast[at].kind != K::name || ast[at].text != ast.slice(name)) continue;
    ++named;
    normed += ast[at].role == Role::argument && is_norm(ast[at].parent);
  }
  return named == 1 && normed == 1;
}

/// Flax, Haiku: x = Conv(64)(x) and x = BatchNorm()(x), of layers made where they are called.
bool is_applied_before_norm(const Ast& ast, NodeId convolution) {
  if (ast[convolution].role != Role::callee) return false;
  return goes_to_norm(ast, ast[convolution].parent, [&](NodeId call) {
    const NodeId callee = ast[call].kind == K::call ? ast.child(call, Role::callee) : kNoNode;
    return callee != kNoNode && makes_norm(ast, callee);
  });
}

/// layers.append(Conv2d(3, 64, 3)), in C++ net->push_back(...), and the same of a norm behind it.
bool is_added_before_norm(const Ast& ast, NodeId convolution) {
  const NodeId adds = ast[convolution].parent;
  const auto target = [&](NodeId call) {
    return is_one_of(callee_name(ast, call), {"append", "push_back"})
               ? ast.slice(ast.child(call, Role::callee))
               : std::string_view();
  };
  if (ast[adds].kind != K::call || ast[convolution].role != Role::argument || target(adds).empty())
    return false;
  NodeId statement = adds;
  while (ast[statement].next == kNoNode && ast[ast[statement].parent].kind == K::other)
    statement = ast[statement].parent;
  NodeId behind = ast[statement].next;
  while (behind != kNoNode && ast[behind].kind == K::other) behind = ast[behind].first_child;
  const NodeId added =
      behind != kNoNode && ast[behind].kind == K::call && target(behind) == target(adds)
          ? ast.child(behind, Role::argument)
          : kNoNode;
  return added != kNoNode && makes_norm(ast, added);
}

/// The attributes of a class that are convolutions or norms, and how its methods use them:
/// self.bn(self.conv(x)), or x = self.conv(x) and x = self.bn(x) in the statement behind it; in C++
/// bn(conv(x)), or x = conv->forward(x) and x = bn->forward(x), in the class or in methods that are
/// defined behind it.
class Layers {
 public:
  /// `parts`: the class, or its methods.
  Layers(const FileView& file, std::vector<NodeId> parts, const Wrappers& wrappers)
      : ast_(file.ast), parts_(std::move(parts)) {
    for_each_node([&](NodeId at) {
      if (ast_[at].kind != K::assign) return;
      const NodeId left = ast_.child(at, Role::left), right = ast_.child(at, Role::right);
      if (left == kNoNode || right == kNoNode || own(left).empty()) return;
      const NodeId made = registered(right);
      if (makes_biased_convolution(file, made, wrappers))
        convolutions_.emplace(own(left), made);
      else if (initializes_biased_convolution(ast_, at))
        convolutions_.emplace(own(left), at);
      if (makes_norm(ast_, made) || initializes_norm(ast_, at)) norms_.emplace(own(left), made);
    });
  }

  /// Where convolutions are made that nothing but a norm is given what they give.
  std::vector<NodeId> normed() const {
    std::vector<NodeId> out;
    if (norms_.empty()) return out;
    std::map<std::string_view, std::pair<bool, bool>> uses;  // before a norm, elsewhere
    for_each_node([&](NodeId at) {
      if (!convolutions_.contains(own(at)) || ast_[at].role == Role::left) return;
      const NodeId call = call_of(at);
      if (call == kNoNode && ast_.grammar == Grammar::cuda) return;  // conv->weight.device()
      auto& [before, elsewhere] = uses[own(at)];
      const bool normed = call != kNoNode && goes_to_norm(ast_, call, [&](NodeId around) {
                            return is_norm_call(around);
                          });
      (normed ? before : elsewhere) = true;
    });
    for (const auto& [name, made] : convolutions_) {
      const auto used = uses.find(name);
      if (used != uses.end() && used->second.first && !used->second.second) out.push_back(made);
    }
    return out;
  }

 private:
  template <typename Each>
  void for_each_node(const Each& each) const {
    for (const NodeId part : parts_) {
      for (NodeId at = part; at < ast_[part].end; ++at) each(at);
    }
  }

  /// "conv" of self.conv, in C++ of conv and this->conv; empty of anything else.
  std::string_view own(NodeId id) const {
    const bool cpp = ast_.grammar == Grammar::cuda;
    if (cpp && ast_[id].kind == K::name) return ast_[id].text;
    const NodeId object = ast_[id].kind == K::attribute ? ast_.child(id, Role::object) : kNoNode;
    return object != kNoNode && ast_.slice(object) == (cpp ? "this" : "self") ? ast_[id].text
                                                                              : std::string_view();
  }

  /// C++: Conv2d(...) of register_module("conv", Conv2d(...)).
  NodeId registered(NodeId made) const {
    if (ast_[made].kind != K::call || callee_name(ast_, made) != "register_module") return made;
    const NodeId name = ast_.child(made, Role::argument);
    return name != kNoNode && ast_[name].next != kNoNode ? ast_[name].next : made;
  }

  /// The call conv(x) or, in C++, conv->forward(x), of the layer's name there.
  NodeId call_of(NodeId layer) const {
    if (ast_[layer].role == Role::callee) return ast_[layer].parent;
    const NodeId method = ast_[layer].parent;
    return ast_.grammar == Grammar::cuda && ast_[layer].role == Role::object &&
                   ast_[method].text == "forward" && ast_[method].role == Role::callee
               ? ast_[method].parent
               : kNoNode;
  }

  bool is_norm_call(NodeId call) const {
    NodeId callee = ast_[call].kind == K::call ? ast_.child(call, Role::callee) : kNoNode;
    if (callee == kNoNode) return false;
    if (ast_.grammar == Grammar::cuda && ast_[callee].kind == K::attribute &&
        ast_[callee].text == "forward")
      callee = ast_.child(callee, Role::object);
    return callee != kNoNode && norms_.contains(own(callee));
  }

  const Ast& ast_;
  const std::vector<NodeId> parts_;
  std::map<std::string_view, NodeId> convolutions_, norms_;  ///< where each is made
};

}  // namespace

void find_bias_before_norm(const FileView& file, std::vector<Match>& out) {
  const Ast& ast = file.ast;
  if (!holds_text(ast.source, "BatchNorm") && !holds_text(ast.source, "Norm2d(")) return;
  const Wrappers wrappers = convolution_wrappers(file);
  for (NodeId id = 1; id < ast.size(); ++id) {
    if (!makes_biased_convolution(file, id, wrappers)) continue;
    const NodeId next = ast[id].role == Role::callee ? kNoNode : ast[id].next;
    if ((next != kNoNode && makes_norm(ast, next)) || is_applied_before_norm(ast, id) ||
        is_added_before_norm(ast, id))
      out.push_back({id, proven(Kind::module), {}});
  }
  const auto add = [&](std::vector<NodeId> parts) {
    for (const NodeId made : Layers(file, std::move(parts), wrappers).normed())
      out.push_back({made, proven(Kind::module), {}});
  };
  for (const NodeId klass : file.outline.classes) add({klass});
  // C++: Block::Block() and Block::forward() of a class that a header declares.
  std::map<std::string_view, std::vector<NodeId>> methods;
  for (uint32_t f = 1; f < file.outline.functions.size(); ++f) {
    const std::string_view of = file.facts.functions[f].class_name;
    if (ast.grammar == Grammar::cuda && !of.empty() && file.outline.class_of[f] == kNone)
      methods[of].push_back(file.outline.functions[f]);
  }
  for (auto& [name, parts] : methods) add(std::move(parts));
}

}  // namespace stallscope
