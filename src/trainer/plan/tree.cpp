#include "trainer/plan/tree.h"

#include "collect/annotate.h"

namespace stallscope::trainer {

Tree<float> tree_at(const Tree<float>& tree, std::string_view path, float value) {
  const annotate::Scope range("tree_at");
  auto leaves = tree.leaves();
  if (const auto found = leaves.find(path); found != leaves.end()) found->second = value;
  return Tree<float>(std::move(leaves));
}

Tree<float> tree_map(const Tree<float>& tree,
                     const std::function<float(const std::string&, float)>& update) {
  const annotate::Scope range("tree_map");
  auto leaves = tree.leaves();
  for (auto& [path, value] : leaves) value = update(path, value);
  return Tree<float>(std::move(leaves));
}

}  // namespace stallscope::trainer
