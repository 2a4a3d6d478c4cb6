import numpy as np
import torch
from torch.distributions import Categorical, Normal


class Policy(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.start = torch.normal(torch.zeros(4), torch.ones(4))

    def forward(self, state):
        mean, log_std = self.net(state).chunk(2, -1)
        return Normal(mean, log_std.exp(), validate_args=False).rsample()


def train(model, loader, optimizer, device):
    prior = Normal(0.0, 1.0)
    for batch, target in loader:
        hidden = model(batch.to(device, non_blocking=True))
        weights = torch.softmax(hidden, -1)
        chosen = torch.multinomial(weights, 8)
        one = torch.multinomial(weights, 1, replacement=True)
        noise = torch.normal(0.0, 0.1, hidden.shape, device=device)
        rows = torch.multinomial(torch.ones(100), 8)
        choice = Categorical(logits=hidden, validate_args=False)
        loss = (hidden + noise - target).square().mean() - choice.log_prob(chosen[:, 0]).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def evaluate(model, loader):
    with torch.no_grad():
        hidden = [model(batch) for batch in loader]
    return np.linalg.pinv(hidden[0].cpu().numpy())
