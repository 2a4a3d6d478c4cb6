import torch
from networks.sync_batchnorm import DataParallelWithCallback


class Translation(torch.nn.Module):
    def forward(self, data, mode):
        data["image"] = data["image"].cuda()  # a part of the batch, scattered before
        return self.generator(data["image"])


class Trainer:
    def __init__(self, options):
        self.model = DataParallelWithCallback(Translation(options), device_ids=options.gpus)

    def train(self, loader, optimizer):
        for data in loader:
            self.model(data, "generator").mean().backward()
            optimizer.step()
