from torch.utils.data import DataLoader


def loaders(train_set, args, **kwargs):
    a = DataLoader(train_set, batch_size=64, num_workers=8)
    b = DataLoader(train_set, batch_size=64, num_workers=args.workers)
    c = DataLoader(train_set, **kwargs)
    return a, b, c


class DataModule:
    """Workers by the number of cores, and never none where there are some."""

    def __init__(self, config):
        self.workers = max(1, config.cores // config.devices)

    def train_dataloader(self):
        return DataLoader(
            self.train_set,
            batch_size=self.batch_size,
            shuffle=True,
            num_workers=self.workers,
            persistent_workers=True,
        )


def token_batches(tokens, batch, length):
    """No loader: the file is mapped, and slices cost nothing."""
    for at in range(0, len(tokens) - batch * length, batch * length):
        yield tokens[at : at + batch * length].reshape(batch, length)
