// What LAMMPS calls once, and classes of other programs.
#include <torch/script.h>

void PairNetwork::coeff(int narg, char** arg) {
  auto module = torch::jit::load(arg[2]);
  cutoff_ = module.attr("r_max").toTensor().item<double>();
}

void PairNetwork::init_style() {
  auto cutoff = module_.attr("r_max").toTensor();
  cutoff_ = cutoff.item<double>();
}

class Tables {
 public:
  void compute(const torch::Tensor& rows) {
    auto most = rows.max();
    most_ = most.item<float>();
  }

 private:
  float most_ = 0;
};
