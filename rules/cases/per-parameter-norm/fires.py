import torch


def train(model, loader, optimizer):
    for x, y in loader:
        model(x, y).backward()
        total = 0.0
        for p in model.parameters():
            total += p.grad.data.norm(2).item() ** 2  # expect: per-parameter-norm
        optimizer.step()
