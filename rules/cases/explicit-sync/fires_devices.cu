// each device's part of one step, over all the data
void train(Network** nets, Data** data, double** gradients, double** host, int epochs, int active_devices) {
  for (int n = 0; n < epochs; n++) {
    for (int device = 0; device < active_devices; device++) {
      cudaSetDevice(device);
      forward_pass<<<64, 256>>>(nets[device], data[device]);
      back_prop<<<64, 256>>>(nets[device], gradients[device]);
      cudaDeviceSynchronize();  // expect: explicit-sync
    }
    average(host, active_devices);
    for (int device = 0; device < active_devices; device++) {
      cudaSetDevice(device);
      update_weights<<<64, 256>>>(nets[device], gradients[device]);
    }
    cudaDeviceSynchronize();  // expect: explicit-sync
  }
}
