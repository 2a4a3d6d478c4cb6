import torch
from torch import nn, optim


def fit(model, x, y):
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    best = float("inf")
    for step in range(100):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        if loss.item() < best:  # a program that names nothing else runs on the host
            best = loss.item()
    return best


if __name__ == "__main__":
    points = torch.randn(64, 3)
    print(fit(nn.Linear(3, 1), points, points.sum(1, keepdim=True)))
