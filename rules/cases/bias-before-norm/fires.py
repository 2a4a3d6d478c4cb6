import torch.nn as nn


class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        # one finding for each function: what else it builds is changed in one go
        self.net = nn.Sequential(
            nn.Conv2d(3, c, 3, padding=1),  # expect: bias-before-norm
            nn.BatchNorm2d(c),
            nn.ReLU(inplace=True),
            nn.Conv2d(c, c, 3),
            nn.BatchNorm2d(c),
        )


def block(c):
    return nn.Sequential(nn.Conv2d(c, c, 3), nn.BatchNorm2d(c))  # expect: bias-before-norm


class Up(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.up = nn.Sequential(nn.ConvTranspose2d(c, c, 2, bias=True), nn.BatchNorm2d(c))  # expect: bias-before-norm


class Residual(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.conv1 = nn.Conv2d(c, c, 3, padding=1)  # expect: bias-before-norm
        self.bn1 = nn.BatchNorm2d(c)

    def forward(self, x):
        return x + nn.functional.relu(self.bn1(self.conv1(x)))


class Plain(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.norm = nn.BatchNorm2d(c)
        self.conv = nn.Conv2d(3, c, 3)  # expect: bias-before-norm

    def forward(self, x):
        x = self.conv(x)
        x = self.norm(x)
        return x.relu()
