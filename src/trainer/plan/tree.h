// An immutable tree of values by path, as functional frameworks keep parameters
// and their settings: an update gives a new tree and leaves the old one alone.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace stallscope::trainer {

template <typename T>
class Tree {
 public:
  using Leaves = std::map<std::string, T, std::less<>>;
  explicit Tree(Leaves leaves) : leaves_(std::make_shared<const Leaves>(std::move(leaves))) {}
  const Leaves& leaves() const { return *leaves_; }
  const T& at(std::string_view path) const { return leaves_->find(path)->second; }

 private:
  std::shared_ptr<const Leaves> leaves_;
};

/// The tree with one leaf replaced. Copies every leaf: N updates of N leaves cost N * N.
Tree<float> tree_at(const Tree<float>& tree, std::string_view path, float value);

/// The tree with every leaf replaced by update(path, value), in one pass.
Tree<float> tree_map(const Tree<float>& tree,
                     const std::function<float(const std::string&, float)>& update);

}  // namespace stallscope::trainer
