// What a memory holds, and a loader of the program's own.
#include <torch/torch.h>

struct Sample {
  torch::Tensor mask;
};

void load_data(unsigned batch_index, float* host, float* device, int n) {
  for (int i = 0; i < n; ++i) host[i] = read(batch_index, i);
  cudaMemcpy(device, host, n * sizeof(float), cudaMemcpyHostToDevice);  // expect: blocking-host-to-device
}

void train(Net& net, std::vector<std::map<std::string, torch::Tensor>>& records,
           Sample& sample, torch::optim::Adam& optimizer,
           float* host, float* device) {
  unsigned index = 0;
  for (auto& record : records) {
    load_data(index++, host, device, 4096);
    torch::Tensor state = record.at("state").to(torch::kCUDA);    // expect: blocking-host-to-device
    torch::Tensor reward = record.at("reward").to(torch::kCUDA);  // expect: blocking-host-to-device
    sample.mask = sample.mask.to(torch::kCUDA);  // expect: blocking-host-to-device
    auto loss = torch::mse_loss(net->forward(state * sample.mask), reward);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
}

void train_on_pairs(Net& net, const Config& config, torch::optim::Adam& optimizer) {
  for (int i = 0; i < config.steps; ++i) {
    auto [x, y] = get_batch(config);
    x = x.to(config.device);  // expect: blocking-host-to-device
    auto loss = torch::mse_loss(net->forward(x), y);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
}

void train_on_parts(Net& net, torch::Tensor text, torch::Device device, torch::optim::Adam& optimizer) {
  for (int64_t i = 0; i < text.size(0); i += 64) {
    auto part = text.index({Slice(i, i + 64)}).to(device);  // expect: blocking-host-to-device
    auto loss = torch::nll_loss(net->forward(part), part);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
}

struct Replay {
  Batch Sample(int64_t count, torch::Device device) {
    auto rewards = rewards_.index_select(0, torch::randint(size_, {count}));
    Batch batch;
    batch.rewards = rewards.to(device);  // expect: blocking-host-to-device
    return batch;
  }
  torch::Tensor rewards_;
  int64_t size_ = 0;
};

void learn(Net& net, Replay& replay, torch::Device device, torch::optim::Adam& optimizer) {
  for (int step = 0; step < 1000; ++step) {
    auto batch = replay.Sample(64, device);
    auto loss = net->forward(batch.rewards).mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
}
