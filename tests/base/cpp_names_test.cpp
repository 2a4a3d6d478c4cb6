#include "base/cpp_names.h"

#include <doctest/doctest.h>

using namespace stallscope;

TEST_CASE("names of kernels are read without what every one of them has") {
  struct Case {
    const char *name, *plain;
  };
  for (const Case& c : {
           Case{"void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, "
                "std::array<char*, 1ul> >(int, at::native::FillFunctor<float>)",
                "vectorized_elementwise_kernel<4, FillFunctor<float>, array<char*, 1ul>>"},
           {"(anonymous namespace)::sgd(float*, float const*, float)", "sgd"},
           {"void at::native::(anonymous namespace)::layer_norm<float>(int)", "layer_norm<float>"},
           {"ampere_sgemm_128x64_tn", "ampere_sgemm_128x64_tn"},
           {"Trainer::step(int)", "Trainer::step"},
           {"f<g()::{lambda(float)#1}>(int)", "f<g()::{lambda(float)#1}>"},
           {"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
            "ncclDevKernel_AllReduce_Sum_f32_RING_LL"},
           {"(all in brackets)", "(all in brackets)"},
           {"a)", "a)"},
           {"::", "::"},
           {"", ""},
       })
    CHECK(without_namespaces(c.name) == c.plain);
}
