#include <torch/extension.h>

template <typename T>
void pool_kernel_launch(const torch::Tensor& in, torch::Tensor& out, cudaStream_t stream) {
  fill<<<64, 256, 0, stream>>>(out.data_ptr<T>(), out.numel());
  CUDA_CHECK(cudaStreamSynchronize(stream));  // expect: explicit-sync
  pool<<<64, 256, 0, stream>>>(in.data_ptr<T>(), out.data_ptr<T>(), out.numel());
}

torch::Tensor pool_forward(const torch::Tensor& in) {
  auto out = torch::empty_like(in);
  pool_kernel_launch<float>(in, out, at::cuda::getCurrentCUDAStream());
  return out;
}

class Scan : public torch::autograd::Function<Scan> {
 public:
  static torch::Tensor forward(torch::autograd::AutogradContext* context, torch::Tensor x) {
    scan<<<64, 256>>>(x.data_ptr<float>());
    cudaDeviceSynchronize();  // expect: explicit-sync
    return x;
  }
};

template <typename T>
void EncoderLayer<T>::attn_layer_fw(const T* in, cudaStream_t stream) {
  norm<<<64, 256, 0, stream>>>(in);
  CUDA_CHECK(cudaStreamSynchronize(stream));  // expect: explicit-sync
  scores<<<64, 256, 0, stream>>>(in);
}

template <>
void dispatchBlendBackward<torch::kCUDA>(const torch::Tensor& grad) {
  blend<<<64, 256>>>(grad.data_ptr<float>());
  cudaDeviceSynchronize();  // expect: explicit-sync
}

void RaggedList::unbind_rows() const {
  split<<<64, 256>>>(rows_);
  cudaDeviceSynchronize();  // expect: explicit-sync
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("pool_forward", &pool_forward, "pooling");
  py::class_<RaggedList>(m, "RaggedList").def("unbind", [](const RaggedList& self) {
    self.unbind_rows();
  });
}

// A layer of a network is evaluated.
void ScoreLayer::Eval(int n, float* out, const float* in, cudaStream_t stream) {
  ReportErrors(cublasSgemm(handle_, n, weights_, in, out));
  cudaStreamSynchronize(stream);  // expect: explicit-sync
}

// Actors learn every few steps of the environment: their interval is the step.
void train_actor_critic(Agent& agent, int max_iter) {
  for (int step = 0; step < max_iter; ++step) {
    collect(agent.runner);
    if (step % kTrainingInterval == 0) {
      train_critic(agent.critic, agent.batch);
      cudaStreamSynchronize(agent.stream);  // expect: explicit-sync
      update_actor(agent.actor);
      backward(agent.actor);
    }
  }
}
