import numpy as np
import torch


def train(model, dataset, optimizer, device):
    for array in dataset:
        x = torch.from_numpy(np.asarray(array)).to(device, non_blocking=True)  # expect: non-blocking-unpinned
        y = torch.tensor([1, 2, 3]).cuda(non_blocking=True)  # expect: non-blocking-unpinned
        z = torch.as_tensor([0.5]).to(device, non_blocking=True)  # expect: non-blocking-unpinned
        model(x, y, z).backward()
        optimizer.step()
