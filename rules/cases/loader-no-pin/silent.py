import torch
from torch.utils.data import DataLoader

device = torch.device("cuda")


def loaders(train_set, args, **kwargs):
    a = DataLoader(train_set, batch_size=64, pin_memory=True)
    b = DataLoader(train_set, batch_size=64, pin_memory=args.pin)
    c = DataLoader(train_set, **kwargs)
    return a, b, c
