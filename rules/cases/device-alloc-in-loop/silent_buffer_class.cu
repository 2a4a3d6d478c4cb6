// Buffers that outlive the step, a view that owns nothing, and a pool that keeps what is freed.
#include <cuda_runtime.h>

class DeviceBuffer {
 public:
  explicit DeviceBuffer(size_t n) { cudaMalloc(&data_, n); }
  ~DeviceBuffer() { cudaFree(data_); }
  float* data_ = nullptr;
};

class View {
 public:
  View(float* data, int n) : data_(data), n_(n) {}
  float* data_;
  int n_;
};

class Pooled {
 public:
  explicit Pooled(size_t n) { cudaMallocAsync(&data_, n, 0); }
  ~Pooled() { cudaFreeAsync(data_, 0); }
  float* data_ = nullptr;
};

struct Layer {
  explicit Layer(int n) : scratch_(n) {}
  void process(DeviceBuffer& x, int n);
  void backward(DeviceBuffer& dy, int n);
  DeviceBuffer scratch_;
};

void Layer::process(DeviceBuffer& x, int n) {
  static DeviceBuffer kept(n);
  View rows(x.data_, n);
  DeviceBuffer* same = &x;
  DeviceBuffer& other = x;
  Pooled pooled(n);
  DeviceBuffer lent(memory_pool, n);
  scale<<<n / 256, 256>>>(rows.data_, pooled.data_, same->data_, other.data_, scratch_.data_, n);
}

int main() {
  DeviceBuffer x(64);
  Layer layer(64);
  for (int step = 0; step < 1000; ++step) {
    layer.process(x, 64);
    layer.backward(x, 64);
    sgd_update<<<10, 256>>>(w, dw, 0.1f);
  }
}

// Taken over by a member: made when the mesh changes.
void Mesh::lay_out(int cells) {
  DeviceBuffer mesh(cells);
  fill<<<cells / 256, 256>>>(mesh.data_, cells);
  mesh_.swap(mesh);
}
