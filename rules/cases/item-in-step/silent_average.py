import torch


def train(model, loader, optimizer, device):
    average = None
    for x, y in loader:
        loss = (model(x.to(device, non_blocking=True)) - y).abs().mean()
        loss.backward()
        optimizer.step()
        if average:
            average = torch.lerp(average, loss.detach(), 0.1)
        else:
            average = torch.tensor(loss.item())  # the first step's


def log_rewards(metrics, advantages: torch.Tensor):
    metrics["histogram"] = advantages.numpy()  # so it is on the host
    metrics["positive"] = (advantages > 0).float().mean().item()
    metrics["advantage"] = advantages.mean().item()


def train_on_rewards(model, loader, optimizer, metrics, judge):
    for x in loader:
        model(x.cuda(non_blocking=True)).mean().backward()
        optimizer.step()
        log_rewards(metrics, judge.advantages(x))
