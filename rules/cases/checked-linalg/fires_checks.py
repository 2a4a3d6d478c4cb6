import torch
import torch.nn.functional as F
from torch.distributions import Categorical, Normal


class Vocoder(torch.nn.Module):
    def forward(self, mel):
        spec = self.net(mel)
        return torch.istft(spec, 1024, window=self.window)  # expect: checked-linalg


class Policy(torch.nn.Module):
    def forward(self, state):
        mean, log_std = self.net(state).chunk(2, -1)
        return Normal(mean, log_std.exp()).rsample()  # expect: checked-linalg


class Head(torch.nn.Module):
    def forward(self, x):
        scores = self.score(x)
        return torch.linalg.pinv(scores) @ x  # expect: checked-linalg


def train(model, loader, optimizer, device):
    for batch, target in loader:
        hidden = model(batch.to(device, non_blocking=True))
        weights = torch.softmax(hidden, -1)
        noise = torch.normal(torch.zeros_like(hidden), torch.ones_like(hidden))  # expect: checked-linalg
        choice = Categorical(logits=hidden)  # expect: checked-linalg
        loss = F.gaussian_nll_loss(hidden + noise, target, weights)  # expect: checked-linalg
        loss = loss - choice.log_prob(hidden.argmax(-1)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def train_policy(actor, critic, loader, optimizer):
    for states in loader:
        policy = Categorical(logits=actor_logits(actor, states))  # expect: checked-linalg
        loss = -policy.log_prob(critic(states).argmax(-1)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
