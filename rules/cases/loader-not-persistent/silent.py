from torch.utils.data import DataLoader


def loaders(train_set, args, **kwargs):
    a = DataLoader(train_set, batch_size=64, num_workers=4, persistent_workers=True)
    b = DataLoader(train_set, batch_size=64, num_workers=0)
    c = DataLoader(train_set, num_workers=args.workers, persistent_workers=args.workers > 0)
    return a, b, c


class DataModule:
    """Workers stay; where there may be none, they cannot."""

    def __init__(self, workers):
        self.options = {"num_workers": workers}
        if workers:
            self.options["persistent_workers"] = True

    def train_dataloader(self):
        return DataLoader(self.train_set, batch_size=64, shuffle=True, **self.options)


def count_tokens(dataset):
    """Read once from end to end: nothing would be kept alive for."""
    total = 0
    for batch in DataLoader(dataset, batch_size=256, num_workers=0):
        total += batch["length"].sum()
    return total


def from_options(dataset, model, epochs, keep):
    options = {"batch_size": 64, "num_workers": 12}
    options["persistent_workers"] = keep
    loader = DataLoader(dataset, **options)
    for _ in range(epochs):
        for batch in loader:
            model(batch).backward()
