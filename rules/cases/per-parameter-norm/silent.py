import torch


def train(model, loader, optimizer):
    for x, y in loader:
        model(x, y).backward()
        total = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return total


def global_norm(model):
    """One value leaves the device, or none."""
    grads = [p.grad for p in model.parameters() if p.grad is not None]
    return torch.linalg.vector_norm(torch.stack(torch._foreach_norm(grads)))


def count_parameters(model):
    total = 0
    for p in model.parameters():
        total += p.numel()
    return total


def train_with_log(model, loader, optimizer, writer):
    for step, batch in enumerate(loader):
        model(batch).mean().backward()
        optimizer.step()
        if step % 500 == 0:
            for name, p in model.named_parameters():
                writer.add_scalar(name, p.grad.norm().item(), step)


def weight_decay(model):
    """Once, before training."""
    return sum(torch.norm(p) for p in model.parameters())


PENALTY = weight_decay(torch.nn.Linear(2, 2))
