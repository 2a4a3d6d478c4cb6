import torch
from torch.utils.data import DataLoader

device = torch.device("cuda")


def loaders(train_set, val_set):
    train = DataLoader(train_set, batch_size=64, num_workers=4)  # expect: loader-no-pin
    val = DataLoader(val_set, batch_size=64, num_workers=4, pin_memory=False)  # expect: loader-no-pin
    more = torch.utils.data.DataLoader(val_set, batch_size=8, num_workers=2)  # expect: loader-no-pin
    return train, val, more
