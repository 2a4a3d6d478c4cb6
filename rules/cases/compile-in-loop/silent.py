import torch


def build(model):
    return torch.compile(model)


class Trainer:
    def __init__(self, model):
        self.model = torch.compile(model, mode="max-autotune")
        self.step = None

    def training_step(self, batch):
        if self.step is None:
            self.step = torch.compile(self.inner)
        return self.step(batch)


def main(model, loader, optimizer):
    model = build(model)
    for batch in loader:
        model(batch).backward()
        optimizer.step()
