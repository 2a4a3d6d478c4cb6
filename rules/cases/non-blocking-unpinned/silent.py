import torch


def train(model, loader, optimizer, device, array):
    staged = torch.from_numpy(array).pin_memory()
    for batch in loader:
        x = batch.to(device, non_blocking=True)
        y = staged.to(device, non_blocking=True)
        z = torch.tensor([1.0], pin_memory=True).to(device, non_blocking=True)
        model(x, y, z).backward()
        optimizer.step()
