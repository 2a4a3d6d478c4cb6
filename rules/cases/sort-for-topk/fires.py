import torch


class Filter(torch.nn.Module):
    def forward(self, logits, k: int):
        best = logits.sort(descending=True)[0][:, :k]  # expect: sort-for-topk
        values, order = torch.sort(logits.float(), dim=-1)  # expect: sort-for-topk
        threshold = values[:, :k]
        return best, threshold


def worst(losses, n):
    return sorted(losses)[:n]  # expect: sort-for-topk


def train(model, loader, optimizer):
    for x in loader:
        loss = model(x, 4)
        worst(loss, 3)
        loss.backward()
        optimizer.step()


class HardMining(torch.nn.Module):
    """A few thousand of a million pixels are kept."""

    def forward(self, logits, target):
        losses = torch.nn.functional.cross_entropy(logits, target, reduction="none").flatten()
        worst, _ = torch.sort(losses, descending=True)  # expect: sort-for-topk
        return worst[:4096].mean()


class Router(torch.nn.Module):
    def forward(self, x):
        gates = self.gate(x).softmax(-1)
        chosen = torch.argsort(gates, dim=-1, descending=True)[:, :2]  # expect: sort-for-topk
        return self.dispatch(x, chosen)


def proposals(scores, k):
    order = scores.sort(descending=True)[1]  # expect: sort-for-topk
    return order[:k]


class ProposalHead(torch.nn.Module):
    def forward(self, x):
        return proposals(self.score(x), 100)
