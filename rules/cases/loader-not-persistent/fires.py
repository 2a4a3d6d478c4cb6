import torch
from torch.utils.data import DataLoader


def loaders(train_set, val_set):
    train = DataLoader(train_set, batch_size=64, num_workers=4)  # expect: loader-not-persistent
    val = DataLoader(val_set, batch_size=64, num_workers=8, persistent_workers=False)  # expect: loader-not-persistent
    more = torch.utils.data.DataLoader(val_set, batch_size=8, num_workers=2, pin_memory=True)  # expect: loader-not-persistent
    return train, val, more


class DataModule:
    """Workers are started anew in each epoch, and import everything again."""

    def train_dataloader(self):
        return DataLoader(  # expect: loader-not-persistent
            self.train_set,
            batch_size=self.batch_size,
            shuffle=True,
            num_workers=12,
            multiprocessing_context="spawn",
        )


def main(dataset, model, epochs):
    loader = DataLoader(dataset, 64, num_workers=6, prefetch_factor=4)  # expect: loader-not-persistent
    for _ in range(epochs):
        for batch in loader:
            model(batch).backward()


def loaders(data, config):
    return DataLoader(data, shuffle=True, num_workers=config.data.num_workers)  # expect: loader-not-persistent


def from_options(dataset, model, epochs):
    options = {"batch_size": 64, "shuffle": True, "num_workers": 12}
    loader = DataLoader(dataset, **options)  # expect: loader-not-persistent
    for _ in range(epochs):
        for batch in loader:
            model(batch).backward()
