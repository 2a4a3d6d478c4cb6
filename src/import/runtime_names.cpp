#include "import/runtime_names.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <string>

namespace stallscope {

RuntimeNames::Call RuntimeNames::call(Trace& trace, StringId function) {
  const auto [known, added] = calls_.try_emplace(function);
  if (added) {
    const std::string name(function_in_source(trace.text(function)));
    known->second = {trace.strings.intern(name), static_cast<uint8_t>(classify_api(name))};
  }
  return known->second;
}

StringId RuntimeNames::kernel(Trace& trace, StringId mangled) {
  const auto [known, added] = kernels_.try_emplace(mangled, mangled);
  const std::string name(trace.text(mangled));
  if (!added || !name.starts_with("_Z")) return known->second;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  if (text) known->second = trace.strings.intern(text.get());
  return known->second;
}

}  // namespace stallscope
