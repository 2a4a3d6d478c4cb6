from torch.utils.data import DataLoader


def loaders(train_set, args, **kwargs):
    a = DataLoader(train_set, batch_size=64, num_workers=4, persistent_workers=True)
    b = DataLoader(train_set, batch_size=64, num_workers=0)
    c = DataLoader(train_set, num_workers=args.workers, persistent_workers=args.workers > 0)
    return a, b, c
