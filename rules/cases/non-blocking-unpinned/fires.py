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
