import torch


def train(model, loader, optimizer):
    for x in loader:
        optimizer.zero_grad(set_to_none=False)  # expect: zero-grad-not-none
        model(x).backward()
        optimizer.step()


class Trainer:
    def train_step(self, batch):
        self.opt_g.zero_grad(set_to_none=False)  # expect: zero-grad-not-none
        loss = self.generator(batch)
        loss.backward()
        self.opt_g.step()
        self.model.zero_grad(set_to_none=False)  # expect: zero-grad-not-none
        return loss


def train_accumulating(model, loader, optimizer, every):
    """Gradients are written with zeros, then read and added to."""
    for step, (x, y) in enumerate(loader):
        torch.nn.functional.cross_entropy(model(x), y).backward()
        if (step + 1) % every == 0:
            optimizer.step()
            optimizer.zero_grad(False)  # expect: zero-grad-not-none


class MixedPrecisionOptimizer:
    def zero_grad(self):
        for group in self.optimizer.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    p.grad.detach_()
                    p.grad.zero_()  # expect: zero-grad-not-none
