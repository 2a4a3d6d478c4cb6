import numpy as np
import torch


class Relative(torch.nn.Module):
    def __init__(self, n):
        super().__init__()
        self.register_buffer("index", torch.tensor([0, 2, 5]))

    def forward(self, x, names: list):
        first = x[0]
        part = x[:, 1:3]
        picked = x[self.index]
        here = x[torch.arange(4, device=x.device)]
        keys = {"a": 1}["a"]
        return picked.sum() + first.sum() + part.sum() + here.sum() + keys + len(names[0])


class Chosen(torch.nn.Module):
    def forward(self, logits, labels):
        rows = torch.arange(logits.shape[0], device=logits.device)
        given = logits[rows, labels]
        first = logits[0, labels]
        block = logits[1:3, labels]
        return given.sum() + first.sum() + block.sum()


def train(model, optimizer, images, ids):
    images = torch.tensor(images).cuda()
    for step in range(1000):
        one = images[np.random.choice(ids)]
        two = images[np.random.randint(len(ids))]
        loss = model(one, two).mean()
        loss.backward()
        optimizer.step()


class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = torch.empty_like(x)
        wrap_triton(scale_kernel)[(x.numel(),)](x, y)
        return y


class Window(torch.nn.Module):
    def forward(self, x, extents):
        x = self.project(x)
        parts = [slice(None)] * x.dim()
        parts[1] = slice(0, extents[0])
        corner = x[[slice(0, n) for n in extents]]
        return x[tuple(parts)].sum() + corner.sum()


class Poses(torch.nn.Module):
    def forward(self, x, ids):
        if not torch.is_tensor(ids):
            ids = torch.tensor(ids).long()
        return x[ids]  # mostly given as a tensor, which is where x is


class Permuted(torch.nn.Module):
    def forward(self, x, names):
        order = torch.randperm(x.shape[0], device=x.device)
        rows = torch.zeros(4).tolist()
        return x[order].sum() + x[:, order].sum() + x[..., 2].sum() + rows[0] + names[:, 1:3]


class Pairs(torch.nn.Module):
    """cuda() takes the indices along."""

    def __init__(self, edges):
        super().__init__()
        self.senders = torch.tensor([a for a, _ in edges])

    def forward(self, values):
        values = torch.relu(values)
        return values[:, self.senders]

    def cuda(self):
        self.senders = self.senders.cuda()
        return super().cuda()


class Swapped(torch.nn.Module):
    """An element of a row on the host is a number."""

    def forward(self, x):
        order = torch.randperm(x.shape[1])
        for i in range(x.shape[1]):
            x[:, i] = x[:, order[i]]
        return x
