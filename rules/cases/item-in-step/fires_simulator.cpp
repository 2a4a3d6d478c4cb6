// LAMMPS calls the potential in each of its steps, and what the potential calls.
#include <torch/script.h>

double Model::energy_of(const torch::Tensor& positions) {
  auto out = module_.forward({positions}).toTensor();
  return out.sum().item<double>();  // expect: item-in-step
}

void PairNetwork::compute(int eflag, int vflag) {
  auto out = model_.forward(inputs_).toGenericDict();
  eng_vdwl = out.at("energy").toTensor().item<double>();  // expect: item-in-step
  eng_coul = energy_.energy_of(positions_);
}

class FixCharges : public Fix {
 public:
  void pre_force(int vflag) override {
    auto charges = solver_.forward({positions_}).toTensor();
    total_ = charges.sum().item<double>();  // expect: item-in-step
  }

 private:
  torch::jit::Module solver_;
  torch::Tensor positions_;
  double total_ = 0;
};
