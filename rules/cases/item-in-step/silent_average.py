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


class Heads(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.out = torch.nn.Linear(8, 8)
        self.classes = None

    def forward(self, x, labels):
        if self.classes is None:
            self.classes = labels.max().item() + 1  # of the first batch
        return self.out(x)


class Sophia(torch.optim.Optimizer):
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                steps = self.state[p]["step"]
                if group["capturable"]:
                    p.addcdiv_(p.grad, steps)
                else:
                    p.add_(p.grad, alpha=-1 / steps.item())  # which is on the host
