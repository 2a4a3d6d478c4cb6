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


class Pockets(torch.utils.data.Dataset):
    def get(self, index):
        return crop_pocket(self.graphs[index], 12.0)


def crop_pocket(graph, cutoff):
    keep = torch.norm(graph["pos"], dim=-1) < cutoff
    return graph["pos"][keep]  # a sample of a data set, on the host


class Encoder(torch.nn.Module):
    def forward(self, x):
        return self.layers(x)

    def keep_of_old_version(self, x, cutoff):
        keep = torch.norm(x, dim=-1) < cutoff
        return x[keep]  # nothing names it


class Collator:
    def collate(self, batch, limit):
        x, y = batch
        return x[y == 1]


class Frames(torch.nn.Module):
    def forward(self, x: torch.Tensor, inference: bool = False):
        distances = self.distances(x)
        if inference:
            return distances[x.sum(-1) > 0]  # no part of training
        return distances


class Ordered(torch.nn.Module):
    def forward(self, x):
        order = torch.ones(x.shape[0], dtype=torch.long, device=x.device)
        return x[order].sum() + x[order.to(torch.int32)].sum()


class Filling(torch.nn.Module):
    def forward(self, x, limit):
        far = x.abs() > limit
        x[far] = 0.0
        x[far] = x.mean()  # one element: filled in without counting
        x[far] = torch.tensor(1.0, device=x.device)
        rows = torch.arange(x.shape[0], device=x.device)
        x[rows, 0] = x[rows, 1]
        return x


def gather(features, index, mask=None):
    features = features.gather(1, index)
    if mask is not None:  # which nobody gives
        mask = mask.unsqueeze(2).expand_as(features)
        features = features[mask > 0]
    return features


class Offsets(torch.nn.Module):
    def forward(self, x, index):
        return gather(x, index)


class Flipped(torch.nn.Module):
    def forward(self, x, keep, data):
        x = x.masked_fill(~keep, 0.0)
        return torch.where(data.train_mask, x, -x)[data.first]


class Table(torch.nn.Module):
    def __init__(self, kinds):
        super().__init__()
        self.kinds = kinds

    def forward(self, x, kind):
        first = kind == "first"
        return x * self.kinds[first]  # a Python bool chooses one of two


class Choice(torch.nn.Module):
    def forward(self, x, kind):
        for i, layer in enumerate(self.layers):
            x = layer(x) * self.scales[i > 0]  # the first or the second of two
            x = x + self.names[kind == "last"]
        return x


def neighbours(pos, batch, chosen=None):
    if chosen is None:
        return radius_graph(pos, batch)
    else:
        chosen = chosen.bool()
        return radius(pos, pos[chosen], batch, batch[chosen])  # nobody gives it


def pairs(pos, mask, dense=False):
    if not dense:
        return (pos * mask).sum()
    else:
        picked = mask > 0
        return pos[picked].sum()


def train(model, loader, optimizer):
    for batch in loader:
        edges = neighbours(batch.pos.cuda(), batch.batch.cuda())
        loss = pairs(model(batch.pos.cuda(), edges), batch.mask.cuda())
        loss.backward()
        optimizer.step()


class Reversed(torch.nn.Module):
    def forward(self, x, flag):
        other = not flag
        return x * self.scales[other]  # a Python bool


class Masks(torch.nn.Module):
    def forward(self, x, kept):
        return torch.stack([x[i_mask] for i_mask in kept])  # one of many, by its number


def train_with_replay(agent, buffer, loader, optimizer):
    for samples in loader:
        np_rewards, np_dones = samples_to_np(samples)
        buffer.add(np_rewards[~np_dones])  # NumPy, by its name
        agent.loss(buffer.sample()).backward()
        optimizer.step()


class Splats:
    def train(self, views):
        for view in views:
            self.render(view).mean().backward()
            self.optimizer.step()
            self.densify_and_prune(self.grads)

    def densify_and_prune(self, grads):  # a densifier says when
        self.points = self.points[grads.norm(dim=-1) > self.limit]
