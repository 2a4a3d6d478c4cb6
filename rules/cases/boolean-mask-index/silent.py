import numpy as np
import torch


class MaskedLoss(torch.nn.Module):
    def forward(self, logits, labels, first: int):
        keep = (labels != -100).float()
        loss = torch.nn.functional.cross_entropy(logits, labels, reduction="none")
        head = loss[:first]
        picked = loss[labels.argmax(-1)]
        return (loss * keep).sum() / keep.sum() + head.mean() + picked.mean()


def train(model, loader, optimizer, history: np.ndarray):
    for step, (x, y) in enumerate(loader):
        loss = model(x, y)
        loss.backward()
        optimizer.step()
        recent = history[history > 0]
        if step % 500 == 0:
            wrong = loss.detach() > 4
            print(recent.mean(), loss[wrong])


def stats(values):
    values = np.asarray(values)
    return values[values > values.mean()]
