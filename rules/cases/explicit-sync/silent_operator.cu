#include <torch/extension.h>

// Nothing hands this one to Python.
void flush(cudaStream_t stream) {
  cudaStreamSynchronize(stream);
}

void init_tables(int64_t size) {
  build<<<64, 256>>>(size);
  cudaDeviceSynchronize();
}

torch::Tensor pool_forward(const torch::Tensor& in) {
  auto out = torch::empty_like(in);
  pool<<<64, 256>>>(in.data_ptr<float>(), out.data_ptr<float>(), out.numel());
#ifdef DEBUG
  cudaDeviceSynchronize();
#endif
  return out;
}

void saveSplats(const torch::Tensor& in) {
  pack<<<64, 256>>>(in.data_ptr<float>());
  cudaDeviceSynchronize();
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("pool_forward", &pool_forward, "pooling");
  m.def("init_tables", &init_tables);
  m.def("save", &saveSplats);
}

void train_with_reports(Agent& agent, int max_iter) {
  for (int step = 0; step < max_iter; ++step) {
    forward(agent.actor);
    backward(agent.actor);
    if (step % 100 == 0) {
      cudaStreamSynchronize(agent.stream);
      print_training_state(agent);
    }
  }
}

struct Reduction {
  int* index = nullptr;
  int count = 0;
};

void reduce_mean(Reduction* reduction, const int* from, float* x, int n) {
  if (reduction->index == nullptr) {  // in the first step alone
    cudaMalloc((void**)&(reduction->index), n * sizeof(int));
    cudaMemcpy(reduction->index, from, n * sizeof(int), cudaMemcpyHostToDevice);
    cudaDeviceSynchronize();
  }
  scale<<<1, n>>>(x, 0.5f, n);
}
