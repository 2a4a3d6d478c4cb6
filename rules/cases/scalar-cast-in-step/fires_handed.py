import torch
from torch import nn


class Encoder(nn.Module):
    def forward(self, x, lengths, weights):
        for b in range(x.size(0)):
            end = int(lengths[b])  # expect: scalar-cast-in-step
            x[b, end:] = 0
        return self.scale(x, weights)

    def scale(self, x, weights):
        return x * float(weights[0])  # expect: scalar-cast-in-step


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder()

    def forward(self, x, lengths, weights):
        return self.encoder(x, lengths, weights=weights.exp())


def train(data, optimizer, device):
    model = Net().to(device)
    for x, lengths, weights in data:
        x = x.to(device, non_blocking=True)
        lengths = lengths.to(device, non_blocking=True)
        weights = weights.to(device, non_blocking=True)
        loss = model(x, lengths, weights).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
