import torch
from torch import nn


class Positional(nn.Module):
    def __init__(self, length, dim):
        super().__init__()
        self.register_buffer("table", torch.zeros(length, dim))
        self.weight = nn.Parameter(torch.zeros(dim))
        self.scale = torch.tensor([0.5, 0.25], device="cuda")
        self.cached = torch.arange(length)

    def forward(self, x):
        self.cached = self.cached.to(x.device)
        table = self.table.to(x.dtype)
        return x + table * self.weight.to(x.dtype) * self.scale


class Bank:
    def __init__(self):
        self.items = torch.zeros(100, 8)

    def save(self, path, device):
        torch.save(self.items.to(device), path)


class Moved(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.anchors = [torch.zeros(size, 4) for size in sizes]

    def forward(self, x):
        self.anchors = [a.to(x.device) for a in self.anchors]  # copied once
        return x + torch.cat(self.anchors)


class Grid(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.grid = torch.zeros(size, 2)

    def forward(self, x):
        if not self.training:
            x = x + self.grid.to(x.device)  # for each batch of an evaluation
        return x


def sample(model, x, device):
    scheduler = DDPMScheduler.from_pretrained("denoiser")
    scheduler.set_timesteps(50, device=device)
    times = scheduler.timesteps.to(device)
    return model(x, times)
