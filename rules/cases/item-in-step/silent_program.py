import torch
from torch import nn, optim
from torch.distributions import Normal


def fit(policy, observations, actions):
    """A batch of distributions, of a program that stays on the host."""
    optimizer = optim.Adam(policy.parameters(), lr=0.1)
    for step in range(100):
        loss = -Normal(policy(observations), 1.0).log_prob(actions).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(loss.item())


if __name__ == "__main__":
    torch.cuda.manual_seed(0)
    fit(nn.Linear(3, 1), torch.randn(64, 3), torch.randn(64, 1))
