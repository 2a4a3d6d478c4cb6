#include <torch/torch.h>

torch::Tensor shape_of_inputs(torch::Tensor data) {
  auto [x, y] = get_batch(data);  // once
  return x;
}

double evaluate(Net& net, Games& games) {
  torch::NoGradGuard guard;
  net->eval();
  double total = 0;
  for (int i = 0; i < 20; ++i) {
    auto batch = games.next_batch();
    total += torch::mse_loss(net->forward(batch.data), batch.target).item<double>();
  }
  return total;
}

void train(Net& net, torch::Tensor data, Games& games, torch::optim::Adam& optimizer) {
  auto x = shape_of_inputs(data);
  for (int step = 0; step < 1000; ++step) {
    if (step % 100 == 0) {
      x = games.next_batch().data;
    }
    auto loss = net->forward(x).mean();
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
  evaluate(net, games);
}
