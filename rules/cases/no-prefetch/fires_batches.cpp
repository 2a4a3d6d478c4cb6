#include <torch/torch.h>

void train_pairs(Net& net, torch::Tensor data, torch::optim::Adam& optimizer) {
  for (int i = 0; i < 1000; ++i) {
    auto [x, y] = get_batch(data);  // expect: no-prefetch
    auto loss = torch::mse_loss(net->forward(x), y);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
}

void train_games(Net& net, Games& games, torch::optim::Adam& optimizer) {
  for (int i = 0; i < 1000; ++i) {
    auto batch = games.next_batch();  // expect: no-prefetch
    auto loss = torch::mse_loss(net->forward(batch.data), batch.target);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
}

void train_read(Net& net, Reader& reader, torch::optim::Adam& optimizer) {
  while (!reader.done()) {
    reader.load_next_batch();  // expect: no-prefetch
    auto loss = torch::mse_loss(net->forward(reader.data()), reader.target());
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
}

// A loader of the program's own, asked when the step is over.
void train_stream(Net& net, Loader& data_loader, torch::optim::Adam& optimizer) {
  auto batch = data_loader.next();
  while (batch.has_value()) {
    auto loss = torch::mse_loss(net->forward(batch->data), batch->target);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    batch = data_loader.next();  // expect: no-prefetch
  }
}
