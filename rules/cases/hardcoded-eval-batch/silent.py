from torch.utils.data import DataLoader


def loaders(train_set, val_set, args):
    train = DataLoader(train_set, batch_size=8, num_workers=4)
    val = DataLoader(val_set, batch_size=args.eval_batch_size, num_workers=4)
    large = DataLoader(val_set, batch_size=256, num_workers=4)
    return train, val, large
