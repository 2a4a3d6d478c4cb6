#include "trainer/program/program.h"

namespace stallscope::trainer {

TensorId Program::find(std::string_view name) const {
  for (TensorId id = 0; id < tensors.size(); ++id)
    if (tensors[id].name == name) return id;
  return kNoTensor;
}

const Section* Program::section(std::string_view name) const {
  for (const Section& it : sections)
    if (it.name == name) return &it;
  return nullptr;
}

std::vector<TensorId> Program::parameters() const {
  std::vector<TensorId> ids;
  for (TensorId id = 0; id < tensors.size(); ++id)
    if (tensors[id].role == Role::parameter) ids.push_back(id);
  std::ranges::sort(ids, {}, [&](TensorId id) { return tensors[id].offset; });
  return ids;
}

}  // namespace stallscope::trainer
