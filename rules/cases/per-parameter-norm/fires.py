import torch


def train(model, loader, optimizer):
    for x, y in loader:
        model(x, y).backward()
        total = 0.0
        for p in model.parameters():
            total += p.grad.data.norm(2).item() ** 2  # expect: per-parameter-norm
        optimizer.step()


class Trainer:
    """Logged for each parameter, at every step."""

    def training_step(self, batch):
        loss = self.model(batch).mean()
        loss.backward()
        self.check()
        self.optimizer.step()
        return loss

    def check(self):
        for name, param in self.model.named_parameters():
            if param.grad is None:
                continue
            self.history[name].append(param.grad.abs().max().item())  # expect: per-parameter-norm


def grad_norm(model):
    norms = [p.grad.norm().item() for p in model.parameters() if p.grad is not None]  # expect: per-parameter-norm
    return sum(n * n for n in norms) ** 0.5


def train_with_log(model, loader, optimizer, writer):
    for step, batch in enumerate(loader):
        model(batch).mean().backward()
        writer.add_scalar("grad_norm", grad_norm(model), step)
        optimizer.step()


def train_with_norm(model, loader, optimizer):
    for batch in loader:
        model(batch).mean().backward()
        optimizer.step()
        with torch.no_grad():
            yield sum([torch.norm(p) for p in model.parameters()])  # expect: per-parameter-norm
