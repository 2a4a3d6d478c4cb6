from torch.utils.data import DataLoader


def loaders(train_set, args, **kwargs):
    a = DataLoader(train_set, batch_size=64, num_workers=8)
    b = DataLoader(train_set, batch_size=64, num_workers=args.workers)
    c = DataLoader(train_set, **kwargs)
    return a, b, c
