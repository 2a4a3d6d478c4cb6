// What asks cuDNN how much memory a backward pass will need takes no step, whatever it asks for:
// the loop over layers that calls it runs once.
void Conv::prepare() {
  cudnnFindConvolutionForwardAlgorithm(handle, x, w, conv, y, 1, &count, &forward_plan);
  cudnnGetConvolutionForwardWorkspaceSize(handle, x, w, conv, y, forward_plan.algo, &forward_bytes);
  cudnnFindConvolutionBackwardDataAlgorithm(handle, w, dy, conv, dx, 1, &count, &data_plan);
  cudnnGetConvolutionBackwardDataWorkspaceSize(handle, w, dy, conv, dx, data_plan.algo, &data_bytes);
}

void Dense::prepare() {
  if (ones_ != nullptr) cudaFree(ones_);
  cudaMalloc(&ones_, sizeof(float) * batch_);
}

void Network::prepare_all() {
  for (auto layer : layers_) layer->prepare();
}
