// What programs do with LibTorch, done once where its headers are compiled: the templates that it
// takes are ready in each program then. No function has a body here: those of headers are skipped.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <deque>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stallscope_first_uses {

using torch::Tensor;
namespace data = torch::data;
namespace nn = torch::nn;
namespace optim = torch::optim;

const Tensor& tensor();
const torch::Device& device();

// Modules, held by shared pointers.
struct NetImpl : nn::Module {
  Tensor forward(Tensor x);
  nn::Conv2d conv{nullptr};
  nn::BatchNorm2d norm{nullptr};
  nn::Linear fc{nullptr};
  nn::Sequential body;
};
TORCH_MODULE(Net);
NetImpl& net();
using Registered = std::tuple<decltype(net().register_module("a", nn::Conv2d(nn::Conv2dOptions(1, 2, 3).padding(1).bias(false)))),
                              decltype(net().register_module("b", nn::Linear(1, 2))),
                              decltype(net().register_module("c", nn::BatchNorm2d(1))),
                              decltype(net().register_module("d", net().fc)),
                              decltype(net().register_module("e", net().body)),
                              decltype(net().register_parameter("f", tensor()))>;
using Layers = decltype(nn::Sequential(nn::Conv2d(nn::Conv2dOptions(1, 2, 3)), nn::ReLU(), nn::Tanh(), nn::Flatten(),
                                       nn::Functional(torch::relu), nn::Linear(1, 2)));
using Output = decltype(std::declval<Net&>()->forward(net().body->forward(tensor())));
using Shared = decltype(std::make_shared<NetImpl>());

// Tensors, and what they are held in.
using Read = std::tuple<decltype(tensor().sum().template item<float>()), decltype(tensor().mean().template item<double>()),
                        decltype(tensor().argmax(1).eq(tensor()).sum().template item<int64_t>())>;
using Moved = decltype(tensor().to(device()).to(torch::kCUDA).to(torch::kFloat32).cpu().cuda().detach());
using Made = decltype(torch::randn({1, 2}, device()) + torch::zeros({1}, torch::TensorOptions().device(device()).dtype(torch::kFloat32)) +
                      torch::full({1}, 2.0) + torch::tensor({1.0F, 2.0F}) + torch::arange(3));
using Computed = decltype(torch::cat({torch::relu(tensor()), torch::log_softmax(tensor(), 1), tensor().view({-1, 2}).pow(2) * 0.5}));
using Stacked = decltype(torch::stack(std::declval<std::vector<Tensor>&>()));
using Picked = decltype(tensor().index({torch::indexing::Slice(), 0}) - tensor()[0]);
using Pair = decltype(std::tuple<Tensor, Tensor>(tensor(), tensor()));
using Pairs = decltype(std::make_tuple(tensor(), tensor(), tensor()));
constexpr auto kSizes = sizeof(std::vector<Tensor>) + sizeof(std::deque<float>) + sizeof(std::deque<Tensor>) +
                        sizeof(std::map<std::string, float>) + sizeof(std::map<std::string, Tensor>) + sizeof(std::unordered_map<std::string, Tensor>) +
                        sizeof(std::optional<Tensor>) + sizeof(std::vector<std::vector<float>>) + sizeof(std::vector<std::string>);

// Losses, optimizers.
using Loss = decltype(torch::nll_loss(tensor(), tensor()) + torch::mse_loss(tensor(), tensor()) +
                      torch::nn::functional::cross_entropy(tensor(), tensor()) + torch::binary_cross_entropy(tensor(), tensor()));
using Backward = decltype(tensor().backward());
using Sgd = decltype(optim::SGD(net().parameters(), optim::SGDOptions(0.01).momentum(0.5)).step());
using Adam = decltype(optim::Adam(net().parameters(), optim::AdamOptions(1e-3)).zero_grad());
using Clipped = decltype(nn::utils::clip_grad_norm_(net().parameters(), 0.5));

// Loaders.
using Images = decltype(data::datasets::MNIST("").map(data::transforms::Stack<>()));
using Normalized = decltype(data::datasets::MNIST("").map(data::transforms::Normalize<>(0, 1)).map(data::transforms::Stack<>()));
template <typename Sampler, typename Set>
using LoaderOf = decltype(data::make_data_loader<Sampler>(std::declval<Set>(), data::DataLoaderOptions().batch_size(1).workers(2)));
using Random = LoaderOf<data::samplers::RandomSampler, Normalized>;
using Sequential = LoaderOf<data::samplers::SequentialSampler, Normalized>;
using Plain = LoaderOf<data::samplers::RandomSampler, Images>;
using Default = decltype(data::make_data_loader(std::declval<Images>(), data::DataLoaderOptions().batch_size(1)));
using Batches = std::tuple<decltype((*std::declval<Random&>()->begin()).data), decltype((*std::declval<Sequential&>()->begin()).data),
                           decltype((*std::declval<Plain&>()->begin()).target), decltype((*std::declval<Default&>()->begin()).target)>;

// What is printed.
using Printed = decltype(std::cout << std::setprecision(4) << 1.0 << ' ' << 1 << "loss " << std::string() << 1.0F << int64_t{1} << std::endl);

}  // namespace stallscope_first_uses
