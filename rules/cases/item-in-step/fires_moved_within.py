import torch
from torch import nn


def spread(rewards, device):
    """What callers hand in is on the host, but does not stay there."""
    values = rewards.float().to(device)
    return values.std().item()  # expect: item-in-step


def centre(rewards: torch.Tensor):
    return rewards.cuda().mean().item()  # expect: item-in-step


def train(model: nn.Module, loader, optimizer, device):
    for batch in loader:
        outcomes = torch.tensor([game.outcome for game in batch.games])
        scale = spread(outcomes, device) + centre(outcomes)
        loss = model(batch.boards).mean() * scale
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
