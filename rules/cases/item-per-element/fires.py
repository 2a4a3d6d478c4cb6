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


class Detector(torch.nn.Module):
    """Boxes go to the host one number after the other."""

    def forward(self, features):
        scores = self.head(features)
        found = []
        for i in range(scores.shape[0]):
            if scores[i].item() > 0.5:  # expect: item-per-element
                found.append(i)
        return found


class Charges(torch.nn.Module):
    """A table that is asked for each atom."""

    def forward(self, data: dict[str, torch.Tensor]):
        numbers = data["numbers"]
        found = [self.table[n.item()] for n in numbers]  # expect: item-per-element
        rows = [self.rows.index(tuple(n.tolist())) for n in numbers]  # expect: item-per-element
        for i, (name, n) in enumerate(zip(self.names, numbers)):
            if n[0].item() == -1:  # expect: item-per-element
                continue
            rows[i] = name
        return torch.tensor(found, device=numbers.device), rows


def train_packed(model, loader, optimizer):
    for batch in loader:
        parts = []
        for i in range(batch["mask"].shape[0]):
            mask = batch["mask"].cuda()[i]
            found = mask.nonzero()
            parts.append(batch["ids"][i, found[0].item() :])  # expect: item-per-element
        model(torch.cat(parts)).mean().backward()
        optimizer.step()
