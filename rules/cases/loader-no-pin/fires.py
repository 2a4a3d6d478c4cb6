import torch
from torch.utils.data import DataLoader

device = torch.device("cuda")


def loaders(train_set, val_set):
    train = DataLoader(train_set, batch_size=64, num_workers=4)  # expect: loader-no-pin
    val = DataLoader(val_set, batch_size=64, num_workers=4, pin_memory=False)  # expect: loader-no-pin
    more = torch.utils.data.DataLoader(val_set, batch_size=8, num_workers=2)  # expect: loader-no-pin
    return train, val, more


class DataModule:
    """Copied from pageable memory, batch after batch."""

    def train_dataloader(self):
        return DataLoader(  # expect: loader-no-pin
            self.train_set,
            batch_size=self.batch_size,
            shuffle=True,
            num_workers=self.workers,
            persistent_workers=True,
        )


def main(dataset, sampler, model):
    loader = DataLoader(dataset, 128, sampler=sampler, num_workers=8)  # expect: loader-no-pin
    for x, y in loader:
        model(x.to(device), y.to(device)).backward()
