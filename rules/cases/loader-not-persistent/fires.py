import torch
from torch.utils.data import DataLoader


def loaders(train_set, val_set):
    train = DataLoader(train_set, batch_size=64, num_workers=4)  # expect: loader-not-persistent
    val = DataLoader(val_set, batch_size=64, num_workers=8, persistent_workers=False)  # expect: loader-not-persistent
    more = torch.utils.data.DataLoader(val_set, batch_size=8, num_workers=2, pin_memory=True)  # expect: loader-not-persistent
    return train, val, more
