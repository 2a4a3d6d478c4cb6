// Names of C++ functions as people say them: demangled kernels of templates run to kilobytes.
#pragma once

#include <string>
#include <string_view>

namespace stallscope {

/// A demangled name without its return type `void`, its parameters and its namespaces:
/// "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float> >(int)" is
/// "vectorized_elementwise_kernel<4, FillFunctor<float>>". Classes stay ("Adam::step"); what is no
/// such name comes back as it was.
std::string without_namespaces(std::string_view name);

}  // namespace stallscope
