// Batches that cross the bus behind the step, or before it.
#include <cuda_runtime.h>
#include <torch/torch.h>

class Feeder {
 public:
  // Staged in pinned memory on a stream of its own.
  Batch next() {
    torch::Tensor data = loader_.read().pin_memory();
    c10::cuda::CUDAStreamGuard guard(copies_);
    return {data.to(torch::kCUDA, /*non_blocking=*/true)};
  }

 private:
  Reader loader_;
  c10::cuda::CUDAStream copies_;
};

// The whole data set lies on the device.
torch::Tensor load_all(const std::string& path, torch::Device device) {
  torch::Tensor images = read_images(path);
  return images.to(device);
}

void fit(Net& model, torch::optim::SGD& optimizer, const std::string& path, torch::Device device) {
  const torch::Tensor images = load_all(path, device);
  for (int64_t step = 0; step < 10000; ++step) {
    auto rows = torch::randint(images.size(0), {64}, images.options().dtype(torch::kLong));
    auto loss = model.forward(images.index_select(0, rows)).mean();
    loss.backward();
    optimizer.step();
    if (step % 1000 == 0) {
      cudaMemcpy(model.schedule(), schedule_of(step), 256, cudaMemcpyHostToDevice);
    }
  }
}
