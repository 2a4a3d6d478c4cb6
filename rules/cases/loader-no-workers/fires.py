import torch
from torch.utils.data import DataLoader


def loaders(train_set, val_set):
    train = DataLoader(train_set, batch_size=64, shuffle=True)  # expect: loader-no-workers
    val = DataLoader(val_set, batch_size=64, num_workers=0)  # expect: loader-no-workers
    more = torch.utils.data.DataLoader(val_set, batch_size=8, drop_last=True)  # expect: loader-no-workers
    return train, val, more
