import torch.nn as nn


class Block(nn.Module):
    def __init__(self, c, **kwargs):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(3, c, 3, bias=False), nn.BatchNorm2d(c))
        self.head = nn.Sequential(nn.Conv2d(c, c, 1), nn.ReLU(), nn.BatchNorm2d(c))
        self.mid = nn.Sequential(nn.Conv2d(c, c, 1), nn.LayerNorm(c))
        self.any = nn.Sequential(nn.Conv2d(c, c, 1, **kwargs), nn.BatchNorm2d(c))
