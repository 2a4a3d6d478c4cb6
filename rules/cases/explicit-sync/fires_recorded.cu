// The backward pass over what was recorded: a part of the step that calls it, and no step itself.
#include <cuda_runtime.h>

void backward(Value* root) {
  build_order(root);
#ifndef CUDA
  for (int i = count - 1; i >= 0; --i) order[i]->backward(order[i]);
#else
  backward_kernel<<<1, 1>>>(order, count);
  cudaDeviceSynchronize();  // expect: explicit-sync
#endif
}
