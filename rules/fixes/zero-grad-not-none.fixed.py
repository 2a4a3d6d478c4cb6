# A suggestion: until the next backward pass .grad is None instead of zeros, which who reads it sees, and
# an optimizer skips a parameter without a gradient, where zeros still move it by decay and momentum.
import torch


def train(model, loader, optimizer):
    for x, y in loader:
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()


def train_positional(model, loader, optimizer):
    for x, y in loader:
        optimizer.zero_grad(False)  # left: which argument this is depends on the optimizer
        torch.nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
