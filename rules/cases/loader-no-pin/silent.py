import torch
from torch.utils.data import DataLoader

device = torch.device("cuda")


def loaders(train_set, args, **kwargs):
    a = DataLoader(train_set, batch_size=64, pin_memory=True)
    b = DataLoader(train_set, batch_size=64, pin_memory=args.pin)
    c = DataLoader(train_set, **kwargs)
    return a, b, c


class DataModule:
    """Pinned, by the options of all its loaders."""

    def __init__(self, config):
        self.options = dict(num_workers=config.workers, pin_memory=config.device != "cpu")

    def train_dataloader(self):
        sampler = self.sampler_of(self.train_set)
        return DataLoader(self.train_set, batch_size=64, sampler=sampler, **self.options)

    def val_dataloader(self):
        pinned = torch.cuda.is_available()
        return DataLoader(self.val_set, batch_size=64, pin_memory=pinned, num_workers=4)


def device_loader(tensors):
    """What lies on the device is not copied: slices of it are given out."""
    rows = torch.randperm(len(tensors), device=device)
    for part in rows.split(64):
        yield tensors[part]
