struct Parameter {
  float *value, *gradient;
  size_t count;
};

void reduce_gradient(float* gradient, size_t count, ncclComm_t comm, cudaStream_t stream) {
  ncclAllReduce(gradient, gradient, count, ncclFloat, ncclSum, comm, stream);  // expect: many-small-collectives
}

void train(std::vector<Parameter>& parameters, int steps, ncclComm_t comm, cudaStream_t stream) {
  for (int step = 0; step < steps; ++step) {
    forward(parameters);
    backward(parameters);
    for (auto& p : parameters) reduce_gradient(p.gradient, p.count, comm, stream);
    optimizer.step(parameters);
  }
}
