import torch


def evaluate_hits(pred: torch.Tensor, y, n):
    hits = 0
    for i in range(n):
        hits += int(pred[i].item() == y[i])  # expect: item-per-element
    return hits


class Packer(torch.nn.Module):
    def forward(self, x, starts: torch.Tensor, counts: torch.Tensor):
        rows = []
        for b in range(x.shape[0]):
            start = int(starts[b].item())  # expect: item-per-element
            rows.append(x[b, start : start + int(counts[b].item())])  # expect: item-per-element
        return torch.cat(rows)


def train(model, loader, optimizer):
    for x, y in loader:
        pred = model(x)
        pred.mean().backward()
        optimizer.step()
        evaluate_hits(pred, y, len(y))
