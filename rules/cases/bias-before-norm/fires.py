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


class Conv(nn.Module):
    def __init__(self, inside, outside, size, bias=True):
        super().__init__()
        self.conv = nn.Conv1d(inside, outside, kernel_size=size, bias=bias)

    def forward(self, x):
        return self.conv(x)


class Prenet(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv = Conv(width, width, 5)  # expect: bias-before-norm
        self.plain = Conv(width, width, 5, bias=False)
        self.norm = nn.BatchNorm1d(width)
        self.second = nn.BatchNorm1d(width)

    def forward(self, x):
        x = torch.tanh(self.norm(self.conv(x)[:, :, :-4]))
        return torch.tanh(self.second(self.plain(x)))
