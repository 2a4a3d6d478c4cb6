import torch
from torch import nn


def spread(rewards: torch.Tensor):
    """All that call it hand in what a list was made into, on the host."""
    values = rewards.float()
    if values.std() < 1e-4:
        return 0.0
    return torch.sum(values).item() + (rewards == 1).sum().item()


def train(model: nn.Module, loader, optimizer):
    for batch in loader:
        outcomes = [game.outcome for game in batch.games]
        scale = spread(torch.tensor(outcomes))
        loss = model(batch.boards).mean() * scale
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
