import torch
from torch.utils.data import DataLoader


def loaders(train_set, val_set):
    train = DataLoader(train_set, batch_size=64, shuffle=True)  # expect: loader-no-workers
    val = DataLoader(val_set, batch_size=64, num_workers=0)  # expect: loader-no-workers
    more = torch.utils.data.DataLoader(val_set, batch_size=8, drop_last=True)  # expect: loader-no-workers
    return train, val, more


class DataModule:
    """Images are decoded between two steps."""

    def train_dataloader(self):
        return DataLoader(self.train_set, self.batch_size, shuffle=True, pin_memory=True)  # expect: loader-no-workers


def main(dataset, sampler, model):
    loader = torch.utils.data.DataLoader(  # expect: loader-no-workers
        dataset,
        batch_sampler=sampler,
        collate_fn=dataset.collate,
    )
    for batch in loader:
        model(batch).backward()
