void reduce_gradients(float* flat, size_t count, ncclComm_t comm, cudaStream_t stream) {
  ncclAllReduce(flat, flat, count, ncclFloat, ncclSum, comm, stream);
}

void train(Model& model, int steps, ncclComm_t comm, cudaStream_t stream) {
  for (int step = 0; step < steps; ++step) {
    forward(model);
    backward(model);
    reduce_gradients(model.flat, model.count, comm, stream);
    optimizer.step(model);
  }
}
