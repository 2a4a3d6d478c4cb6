import numpy as np
import torch


class Relative(torch.nn.Module):
    def forward(self, x):
        rows = torch.arange(x.shape[1])[:, None] - torch.arange(x.shape[1])[None, :]
        bias = self.table.weight.float()
        picked = x[[0, 2, 5]]  # expect: host-index-on-device
        columns = x[:, [1, 3]]  # expect: host-index-on-device
        offsets = torch.arange(4)
        more = x[offsets]  # expect: host-index-on-device
        return picked.sum() + columns.sum() + more.sum() + bias.sum() + rows.numel()


class Chosen(torch.nn.Module):
    def forward(self, logits, labels):
        best = self.overlap(logits, labels)
        index = best.argmax(dim=1)
        top = best[torch.arange(best.shape[0]), index]  # expect: host-index-on-device
        turned = best[index, torch.arange(best.shape[0])]  # expect: host-index-on-device
        given = logits[torch.arange(logits.shape[0]), labels]  # expect: host-index-on-device
        ranged = logits[range(len(logits)), labels]  # expect: host-index-on-device
        return top.sum() + turned.sum() + given.sum() + ranged.sum()


def train(model, loader, optimizer, device):
    """A fresh order for each batch, drawn on the host."""
    for x, y in loader:
        x = x.to(device, non_blocking=True)
        features = model(x)
        order = torch.randperm(len(y))
        mixed = features + features[order]  # expect: host-index-on-device
        mixed.mean().backward()
        optimizer.step()


def update(agent, optimizer, envs, device):
    observations = torch.zeros((512, 4)).to(device)
    collect(envs, agent, observations)
    order = np.arange(observations.shape[0])
    for epoch in range(4):
        np.random.shuffle(order)
        for start in range(0, len(order), 64):
            chosen = order[start : start + 64]
            loss = agent(observations[chosen]).mean()  # expect: host-index-on-device
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


class Picked(torch.nn.Module):
    def forward(self, x):
        y = self.project(x)
        columns = torch.tensor([0, 2])
        a = y[:, columns]  # expect: host-index-on-device
        b = y[..., [0, 2, 5]]  # expect: host-index-on-device
        c = x[torch.randperm(x.shape[0])]  # expect: host-index-on-device
        d = x[:, :, torch.arange(3)]  # expect: host-index-on-device
        return a.sum() + b.sum() + c.sum() + d.sum()


class KeptPairs(torch.nn.Module):
    """Nothing moves the indices."""

    def __init__(self, edges):
        super().__init__()
        self.senders = torch.tensor([a for a, _ in edges])

    def forward(self, values):
        values = torch.relu(values)
        return values[:, self.senders]  # expect: host-index-on-device


class UncertaintyLoss(nn.Module):
    def forward(self, pred: torch.Tensor, labels: torch.Tensor):
        pred = pred[torch.arange(pred.shape[0]), labels]  # expect: host-index-on-device
        return pred.sum()


def accuracy_of(scores, labels):
    best = scores.max(dim=-1).values
    return (scores[torch.arange(len(scores)), labels] == best).float().mean()  # expect: host-index-on-device


def fit_ranker(model, loader, optimizer):
    for x, labels in loader:
        scores = model(x.cuda())
        seen = accuracy_of(scores, labels.cuda())
        (scores.mean() - seen).backward()
        optimizer.step()


class ActionSpace(nn.Module):
    GRIPPER = (9, 19)

    def forward(self, pred, target):
        self.start = pred.device
        return (pred[:, :, self.GRIPPER] - target[:, :, self.GRIPPER]).mean()  # expect: host-index-on-device


class Rotation(torch.nn.Module):
    def forward(self, matrices):
        trace = matrices[..., range(3), range(3)].sum(-1)  # expect: host-index-on-device
        return torch.acos((trace - 1) / 2)


class Criterion(torch.nn.Module):
    def forward(self, outputs, targets):
        indices = self.matcher(outputs, targets)
        rows = self._get_src_permutation_idx(indices)
        boxes = torch.sigmoid(outputs)
        return boxes[rows].sum()  # expect: host-index-on-device
