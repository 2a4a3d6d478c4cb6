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


def adam_update(parameters, gradients, averages, step, beta, lr):
    step.add_(1)
    correction = 1 - beta ** step.item()
    for p, g, a in zip(parameters, gradients, averages):
        a.lerp_(g, 1 - beta)
        p.add_(a, alpha=-lr / correction)


class OwnAdam(torch.optim.Optimizer):
    def step(self):
        for group in self.param_groups:
            adam_update(group["params"], group["grads"], group["averages"], group["step"], 0.9, group["lr"])
