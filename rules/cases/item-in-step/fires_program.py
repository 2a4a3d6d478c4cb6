import torch
import torch.distributed
from torch import nn, optim


def fit(model, x, y):
    """One of many processes, each with what torchrun gives it."""
    torch.distributed.init_process_group()
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    for step in range(100):
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(loss.item())  # expect: item-in-step


if __name__ == "__main__":
    points = torch.randn(64, 3)
    fit(nn.Linear(3, 1), points, points.sum(1, keepdim=True))
