import numpy as np
import torch


def train(model, dataset, optimizer, device):
    for array in dataset:
        x = torch.from_numpy(np.asarray(array)).to(device, non_blocking=True)  # expect: non-blocking-unpinned
        y = torch.tensor([1, 2, 3]).cuda(non_blocking=True)  # expect: non-blocking-unpinned
        z = torch.as_tensor([0.5]).to(device, non_blocking=True)  # expect: non-blocking-unpinned
        model(x, y, z).backward()
        optimizer.step()


class Trainer:
    """The copy waits all the same: nothing was pinned."""

    def training_step(self, batch):
        weights = torch.tensor(batch["weights"]).to(self.device, non_blocking=True)  # expect: non-blocking-unpinned
        return (self.model(batch["x"]) * weights).mean()


class Positions(torch.nn.Module):
    def forward(self, x, lengths: list):
        offsets = torch.from_numpy(np.cumsum(lengths)).cuda(non_blocking=True)  # expect: non-blocking-unpinned
        return self.embed(offsets) + x


def get_batch(data, block_size, batch_size):
    ix = torch.randint(len(data) - block_size, (batch_size,))
    x = torch.stack([torch.from_numpy(data[i : i + block_size].astype(np.int64)) for i in ix])  # expect: non-blocking-unpinned
    y = torch.stack([torch.from_numpy(data[i + 1 : i + 1 + block_size].astype(np.int64)) for i in ix])  # expect: non-blocking-unpinned
    return x.to("cuda", non_blocking=True), y.to("cuda", non_blocking=True)


def fit(model, data, optimizer, steps):
    for _ in range(steps):
        x, y = get_batch(data, 1024, 8)
        model(x, y).backward()
        optimizer.step()
