import torch
from torch import nn


class Encoder(nn.Module):
    def forward(self, x, lengths, sizes):
        for b in range(x.size(0)):
            x[b, int(lengths[b]):] = 0  # read once, before the pass
        return x / float(sizes[0])


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder()

    def forward(self, x, lengths):
        return self.encoder(x, lengths.cpu(), x.shape)


def train(data, optimizer, device):
    model = Net().to(device)
    for x, lengths in data:
        loss = model(x.to(device, non_blocking=True), lengths).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
