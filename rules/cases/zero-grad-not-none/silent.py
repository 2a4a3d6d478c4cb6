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


class Trainer:
    """Dropped, in the two ways there are."""

    def training_step(self, batch):
        for p in self.model.parameters():
            p.grad = None
        loss = self.model(batch).mean()
        loss.backward()
        return loss

    def fit(self, loader, accumulate):
        for step, batch in enumerate(loader):
            self.training_step(batch)
            if step % accumulate == 0:
                self.optimizer.step()
                self.optimizer.zero_grad(True)


def reset(model):
    """Once, before the training."""
    for p in model.parameters():
        p.grad = torch.zeros_like(p)
