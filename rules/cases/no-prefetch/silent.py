import torch


def train(model, loader, optimizer):
    for batch in loader:
        model(batch).backward()
        optimizer.step()


def probe(loader):
    batch = next(iter(loader))
    return batch.shape


def train_steps(model, loader, optimizer, names):
    it = iter(names)
    for step, batch in enumerate(loader):
        label = next(it)
        model(batch, label).backward()
        optimizer.step()


class PrefetchLoader:
    """Copies the batch after this one on a stream of its own."""

    def __init__(self, loader):
        self.loader = loader


def train_ahead(model, optimizer, steps, data_loader):
    for step in range(steps):
        batch = next(data_loader)
        model(batch).backward()
        optimizer.step()


def train_from_pipeline(model, optimizer, data, steps, n):
    train_iter = start_input_pipeline(data, prefetch_to_device=n)
    for step in range(steps):
        batch = next(train_iter)
        model(batch).backward()
        optimizer.step()
