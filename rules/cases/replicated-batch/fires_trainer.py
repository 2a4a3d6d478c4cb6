import os

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader


class Trainer:
    """Every rank shuffles the same files, and trains on all of them."""

    def __init__(self, model, dataset, batch_size):
        rank = int(os.environ["LOCAL_RANK"])
        self.model = nn.parallel.DistributedDataParallel(model.cuda(rank), device_ids=[rank])
        self.loader = DataLoader(dataset, batch_size, shuffle=True, pin_memory=True)  # expect: replicated-batch

    def fit(self, optimizer):
        for x, y in self.loader:
            torch.nn.functional.cross_entropy(self.model(x), y).backward()
            optimizer.step()


def build_loaders(train_set, workers):
    train = torch.utils.data.DataLoader(  # expect: replicated-batch
        train_set,
        batch_size=32,
        shuffle=True,
        num_workers=workers,
        drop_last=True,
    )
    return train
