import torch


def train(model, loader, optimizer, device):
    average = None
    for x, y in loader:
        loss = (model(x.to(device, non_blocking=True)) - y).abs().mean()
        loss.backward()
        optimizer.step()
        if average:
            average = 0.9 * average + 0.1 * loss.item()  # expect: item-in-step
        else:
            average = loss.item()


def train_on_terms(model, loader, optimizer, terms):
    for x in loader:
        total, losses = None, []
        for term in terms:
            loss = term(model(x.cuda(non_blocking=True))).mean()
            if total:
                total = total + loss
            else:
                total = loss.item()  # expect: item-in-step
            losses.append(loss)
        sum(losses).backward()
        optimizer.step()


def log_rewards(metrics, rewards, advantages: torch.Tensor):
    metrics["histogram"] = rewards.numpy()
    metrics["advantage"] = advantages.mean().item()  # expect: item-in-step


def train_on_rewards(model, loader, optimizer, metrics):
    for x in loader:
        advantages = model(x.cuda(non_blocking=True))
        advantages.mean().backward()
        optimizer.step()
        log_rewards(metrics, x.sum(), advantages)


class Heads(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.out = torch.nn.Linear(8, 8)
        self.classes = None

    def forward(self, x, labels):
        if self.classes is None:
            self.classes = labels.max().item() + 1  # expect: item-in-step
        out = self.out(x)
        self.classes = None
        return out
