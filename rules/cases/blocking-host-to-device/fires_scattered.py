import torch
from torch.nn.parallel import DistributedDataParallel


class Translation(torch.nn.Module):
    def forward(self, data, mode):
        data["image"] = data["image"].cuda()  # expect: blocking-host-to-device
        return self.generator(data["image"])


class Trainer:
    def __init__(self, options):
        self.model = DistributedDataParallel(Translation(options), device_ids=[options.rank])

    def train(self, loader, optimizer):
        for data in loader:
            self.model(data, "generator").mean().backward()
            optimizer.step()
