import torch
from torch import nn


def train(loader):
    model = nn.Transformer()
    optimizer = torch.optim.Adam(model.parameters())
    for x, y in loader:
        loss = model(x, y).mean()
        loss.backward()  # expect: missing-grad-clip
        optimizer.step()


def finetune(model: nn.Transformer, loader, optimizer):
    for x in loader:
        model(x).mean().backward()  # expect: missing-grad-clip
        optimizer.step()


class Trainer:
    def fit(self, loader):
        for x in loader:
            loss = self.model(x)
            loss.backward()  # expect: missing-grad-clip
            self.optimizer.step()
