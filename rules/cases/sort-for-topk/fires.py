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
