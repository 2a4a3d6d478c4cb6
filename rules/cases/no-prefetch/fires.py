import torch
from torch.utils.data import DataLoader


def train(model, dataset, optimizer, steps):
    loader = DataLoader(dataset, batch_size=8, num_workers=0)
    it = iter(loader)
    for step in range(steps):
        batch = next(it)  # expect: no-prefetch
        loss = model(batch)
        loss.backward()
        optimizer.step()


def train_gan(gen, train_loader, opt):
    data_iter = iter(train_loader)
    for i in range(1000):
        real = next(data_iter)  # expect: no-prefetch
        gen(real).backward()
        opt.step()


class Trainer:
    def fit(self, loader):
        batches = iter(loader)
        for i in range(self.steps):
            x = next(batches)  # expect: no-prefetch
            self.model(x).backward()
            self.optimizer.step()
