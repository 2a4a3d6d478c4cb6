import torch
from torch.utils.data import DataLoader


def train(model, data, optimizer, device):
    model = model.to(device)
    loader = DataLoader(data, batch_size=8, num_workers=2, pin_memory=True)
    for x, y in loader:
        x = x.to(device, non_blocking=True)
        y = y.to(device, non_blocking=True).to(torch.float32)
        model(x, y).backward()
        optimizer.step()
