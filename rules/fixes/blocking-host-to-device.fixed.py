# A suggestion: that the batch comes from the loader with pinned memory is not seen.
import torch
from torch.utils.data import DataLoader


def train(model, data, optimizer, device):
    loader = DataLoader(data, batch_size=64, num_workers=4, pin_memory=True)
    for x, y in loader:
        x = x.to(device, non_blocking=True)
        y = y.cuda(non_blocking=True)
        other = x.to(device)  # left: x is still seen elsewhere
        loss = torch.nn.functional.mse_loss(model(x), y) + other.mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
