#include <torch/torch.h>

int main(int argc, char* argv[]) {
  Options options("train", "a model");
  options.add_options()
      ("i,input", "where images are", value<std::string>())
#ifdef USE_VIEWER
      ("viewer", "show each step", value<bool>()->default_value("0"))
#endif
      ("n,steps", "how many", value<int>()->default_value("30000"));
  const auto given = options.parse(argc, argv);
  torch::Device device = torch::kCUDA;
  Model model(given["input"].as<std::string>(), device);
  for (size_t step = 1; step <= given["steps"].as<int>(); step++) {
    torch::Tensor image = model.forward(
        step,
#ifdef USE_DEPTH
        model.depth(step)
#else
        model.color(step)
#endif
    );
    torch::Tensor loss = model.loss(image);
    loss.backward();
    std::cout << loss.item<float>() << std::endl;  // expect: item-in-step
    model.optimizersStep();
  }
}
