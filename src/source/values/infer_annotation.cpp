// What declared types say about values, in Python also where they name a class otherwise.
#include <algorithm>
#include <string>

#include "source/syntax/identifier.h"
#include "source/values/infer.h"

namespace stallscope {
/// The same of what is handed in, or kept: what a mapping holds, who fills it knows.
Value Inference::declared_value(std::string_view type) const {
  const Value out = declared_result(type);
  return out.kind == Kind::tensor_dict ? Value{} : out;
}

/// What a function is declared to give: "T" of `from torch import Tensor as T` and of
/// `T = torch.Tensor`, also in Optional[T].
Value Inference::declared_result(std::string_view type) const {
  const Value known = uses_thrust_ ? declared_vector(type) : value_of_type(type);
  if (known.kind != Kind::unknown || ast_.grammar != Grammar::python) return known;
  std::string meant;
  bool renamed = false;
  for (size_t at = 0; at < type.size();) {
    size_t end = at;
    while (end < type.size() && is_identifier_char(type[end])) ++end;
    const std::string_view word = type.substr(at, std::max(end, at + 1) - at);
    const std::string_view path = names_.import_of(word);
    // T = torch.tensor names the function, and means the class
    const bool tensor =
        path == "torch.tensor" || (path.starts_with("torch") && last_component(path) == "Tensor");
    renamed |= tensor && word != "Tensor";
    meant += tensor ? std::string_view("Tensor") : word;
    at += word.size();
  }
  return renamed ? value_of_type(meant) : known;
}

}  // namespace stallscope
