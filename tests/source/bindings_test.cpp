// Functions of C++ that a module of Python is made of: what Python does with them tells when they
// run. Headers of LibTorch beside a program are not the program's.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "source/index.h"
#include "source/item_rule.h"
#include "source/places.h"

using namespace stallscope;

namespace {

/// "file:line" of each item() in these files.
std::string items_in(const std::vector<SourceInput>& files) {
  return places(item_rule({"step", "forward"}), files);
}

const char* const kBoundKernel =
    "#include <torch/extension.h>\n"
    "torch::Tensor nearest(const torch::Tensor& x) {\n"
    "  return x / x.max().item<float>();\n"
    "}\n"
    "PYBIND11_MODULE(ops, m) { m.def(\"nearest\", &nearest); }\n";

}  // namespace

TEST_CASE("a bound function that Python calls only to set up is no operator") {
  const auto called_in = [](const std::string& function) {
    return items_in({{"ops/nearest.cpp", "", kBoundKernel},
                     {"model.py", "",
                      "import torch\nfrom ops._C import nearest\nclass Model:\n    def " +
                          function + "(self, points):\n        return nearest(points)\n"}});
  };
  CHECK(called_in("create_from_points").empty());
  CHECK(called_in("interpolate") == "ops/nearest.cpp:3");
  CHECK(items_in({{"ops/nearest.cpp", "", kBoundKernel}}) == "ops/nearest.cpp:3");
}

TEST_CASE("nor is what such a function launches") {
  const char* kernels =
      "#include <torch/extension.h>\n"
      "float Index::knn(const torch::Tensor& x) {\n"
      "  search<<<1, 32>>>(x.data_ptr<float>());\n"
      "  return x.max().item<float>();\n"
      "}\n"
      "torch::Tensor nearest(const torch::Tensor& x) { return x / Index::knn(x); }\n"
      "PYBIND11_MODULE(ops, m) { m.def(\"nearest\", &nearest); }\n";
  const auto called_in = [&](const std::string& function) {
    const std::string model = "import torch\nfrom ops._C import nearest\nclass Model:\n    def " +
                              function + "(self, points):\n        return nearest(points)\n";
    return places(item_rule({"forward", "launcher"}),
                  {{"ops/nearest.cu", "", kernels}, {"model.py", "", model}});
  };
  CHECK(called_in("create_from_points").empty());
  CHECK(called_in("interpolate") == "ops/nearest.cu:4");
}

TEST_CASE("LibTorch's headers beside a program are not linted") {
  const auto found_in = [](const std::string& path) {
    return items_in({{path, "", kBoundKernel}});
  };
  CHECK(found_in("libs/libtorch/include/ATen/nearest.h").empty());
  CHECK(found_in("libs/libtorch/include/torch/csrc/api/nearest.h").empty());
  CHECK(found_in("src/include/nearest.h") == "src/include/nearest.h:3");
}

TEST_CASE("templates of a header and C that names a device are linted") {
  const auto found_in = [](const std::string& path, const std::string& text) {
    return places(item_rule({"launcher"}), {{path, "", text}});
  };
  const std::string body =
      "float top(torch::Tensor x) {\n  search<<<1, 32>>>(x);\n  return x.max().item<float>();\n}\n";
  const std::string device = "#include <cuda_runtime.h>\n" + body;
  for (const char* path : {"map.inl", "map.hxx", "map.ipp", "map.tpp", "solver.C", "solver.c"})
    CHECK(found_in(path, device) == std::string(path) + ":4");
  CHECK(found_in("solver.c", "#include <mpi.h>  // MPI_Bcast\n" + body).empty());
  CHECK(found_in("notes.txt", device).empty());
  CHECK(found_in("kernels.cu", body) == "kernels.cu:3");
}
