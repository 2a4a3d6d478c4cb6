import torch


def train(model, loader, optimizer):
    for x in loader:
        optimizer.zero_grad()
        model(x).backward()
        optimizer.step()
        model.zero_grad(set_to_none=True)


class Wrapper:
    def zero_grad(self, set_to_none=False):
        self.inner.zero_grad(set_to_none=set_to_none)
