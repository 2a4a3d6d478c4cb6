// Programs in one file that bring their own layers and name their steps as they like.
#include <cuda_runtime.h>

__global__ void assign(const float* points, int* cluster, int n);
__global__ void move(float* centroids, const float* points, const int* cluster, int n);

class Clusters {
 public:
  void nearest() {
    assign<<<blocks_, 256>>>(points_, cluster_, n_);
    cudaDeviceSynchronize();  // expect: explicit-sync
  }
  void recentre() {
    move<<<blocks_, 256>>>(centroids_, points_, cluster_, n_);
    cudaStreamSynchronize(0);  // expect: explicit-sync
  }

 private:
  float *points_, *centroids_;
  int *cluster_, n_, blocks_;
};

int main() {
  Clusters clusters;
  for (int round = 0; round < 100; ++round) {
    clusters.nearest();
    clusters.recentre();
  }
}
