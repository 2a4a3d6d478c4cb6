import torch.nn as nn


class Block(nn.Module):
    def __init__(self, c, **kwargs):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(3, c, 3, bias=False), nn.BatchNorm2d(c))
        self.head = nn.Sequential(nn.Conv2d(c, c, 1), nn.ReLU(), nn.BatchNorm2d(c))
        self.mid = nn.Sequential(nn.Conv2d(c, c, 1), nn.LayerNorm(c))
        self.any = nn.Sequential(nn.Conv2d(c, c, 1, **kwargs), nn.BatchNorm2d(c))


class Residual(nn.Module):
    """The bias is not lost: what it is added to goes past the norm."""

    def __init__(self, c):
        super().__init__()
        self.conv = nn.Conv2d(c, c, 3, padding=1)
        self.norm = nn.BatchNorm2d(c)

    def forward(self, x):
        y = self.conv(x)
        return y + self.norm(x)


def projector(width, hidden, normalise):
    layers = [nn.Linear(width, hidden, bias=not normalise)]
    if normalise:
        layers.append(nn.BatchNorm1d(hidden))
    layers.append(nn.ReLU(inplace=True))
    layers.append(nn.Linear(hidden, width))
    return nn.Sequential(*layers)


class Twice(nn.Module):
    """Once with the norm, once without."""

    def __init__(self, c):
        super().__init__()
        self.conv = nn.Conv2d(c, c, 3, padding=1)
        self.norm = nn.BatchNorm2d(c)

    def forward(self, x):
        return self.norm(self.conv(x)) + self.conv(x)


class Activated(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.conv = nn.Conv2d(c, c, 3, padding=1)
        self.norm = nn.BatchNorm2d(c)

    def forward(self, x):
        x = self.conv(x)
        x = x.relu()
        return self.norm(x)


class Shared(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv = nn.Conv1d(width, width, 5)
        self.norm = nn.BatchNorm1d(width)
        self.out = nn.Linear(width, width)

    def forward(self, x):
        x = self.conv(x)
        x = self.norm(x) + self.out(x)  # the bias reaches what is not normed
        return x
