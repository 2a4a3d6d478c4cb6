// The matcher for a convolution whose bias batch norm takes away again.
#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

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

/// Whether a call makes a convolution with a bias, as far as it says.
bool makes_biased_convolution(const Ast& ast, NodeId call, const Wrappers& wrappers = {}) {
  if (ast[call].kind != K::call) return false;
  const std::string_view made = callee_name(ast, call);
  if (!is_one_of(made, {"Conv1d", "Conv2d", "Conv3d", "ConvTranspose2d"}) &&
      !wrappers.contains(made))
    return false;
  for (NodeId c : children(ast, call)) {
    if (ast[c].kind == K::keyword && ast[c].text == "bias")
      return ast.slice(ast.child(c, Role::value)) == "True";
    if (ast[c].kind == K::star) return false;
  }
  if (ast.grammar == Grammar::python) return true;
  // LibTorch: Conv2d(Conv2dOptions(3, 64, 3).padding(1)), Conv2d(3, 64, 3)
  const std::string_view text = ast.slice(call);
  const NodeId first = ast.child(call, Role::argument);
  return text.find(".bias(") == std::string_view::npos && first != kNoNode &&
         (text.find("Options(") != std::string_view::npos || ast[first].kind == K::number);
}

bool makes_norm(const Ast& ast, NodeId call) {
  return ast[call].kind == K::call && callee_name(ast, call).starts_with("BatchNorm");
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
      if (makes_biased_convolution(ast_, made, wrappers)) convolutions_.emplace(own(left), made);
      if (makes_norm(ast_, made)) norms_.emplace(own(left), made);
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
      (call != kNoNode && goes_to_norm(call) ? before : elsewhere) = true;
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

  /// "conv" of self.conv, in C++ of conv; empty of anything else.
  std::string_view own(NodeId id) const {
    if (ast_.grammar == Grammar::cuda)
      return ast_[id].kind == K::name ? ast_[id].text : std::string_view();
    const NodeId object = ast_[id].kind == K::attribute ? ast_.child(id, Role::object) : kNoNode;
    return object != kNoNode && ast_.slice(object) == "self" ? ast_[id].text : std::string_view();
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

  /// self.bn(self.conv(x)[:, :, :-4]): what of the result is handed on.
  NodeId cut(NodeId call) const {
    while (ast_[ast_[call].parent].kind == K::subscript && ast_[call].role == Role::object)
      call = ast_[call].parent;
    return call;
  }

  /// Whether a norm is all that is given what `call` gives.
  bool goes_to_norm(NodeId call) const {
    call = cut(call);
    const NodeId around = ast_[call].parent;
    if (ast_[call].role == Role::argument) return is_norm_call(around);
    const NodeId name = ast_[around].kind == K::assign && ast_[call].role == Role::right
                            ? ast_.child(around, Role::left)
                            : kNoNode;
    const NodeId behind = name == kNoNode ? kNoNode : ast_[around].next;
    if (behind == kNoNode || ast_[behind].kind != K::assign ||
        ast_.slice(ast_.child(behind, Role::left)) != ast_.slice(name))
      return false;
    // x = self.bn(x), x = self.conv2(relu(self.bn(x))): the norm alone is given it
    unsigned named = 0, normed = 0;
    const NodeId right = ast_.child(behind, Role::right);
    for (NodeId at = right; at != kNoNode && at < ast_[right].end; ++at) {
      if (ast_[at].kind != K::name || ast_[at].text != ast_.slice(name)) continue;
      ++named;
      normed += ast_[at].role == Role::argument && is_norm_call(ast_[at].parent);
    }
    return named == 1 && normed == 1;
  }

  const Ast& ast_;
  const std::vector<NodeId> parts_;
  std::map<std::string_view, NodeId> convolutions_, norms_;  ///< where each is made
};

}  // namespace

void find_bias_before_norm(const FileView& file, std::vector<Match>& out) {
  const Ast& ast = file.ast;
  if (ast.source.find("BatchNorm") == std::string_view::npos) return;
  const Wrappers wrappers = convolution_wrappers(file);
  for (NodeId id = 1; id < ast.size(); ++id) {
    if (ast[id].role == Role::callee || !makes_biased_convolution(ast, id, wrappers)) continue;
    const NodeId next = ast[id].next;
    if (next != kNoNode && makes_norm(ast, next)) out.push_back({id, proven(Kind::module), {}});
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
