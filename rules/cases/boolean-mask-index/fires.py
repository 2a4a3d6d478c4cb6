import pytorch_lightning as pl
import torch
import torch.nn.functional as F


class MaskedLoss(torch.nn.Module):
    def __init__(self, ignore_index=-100):
        super().__init__()
        self.ignore_index = ignore_index

    def forward(self, logits, labels):
        keep = labels != self.ignore_index
        logits = logits.float()
        kept = logits[keep]  # expect: boolean-mask-index
        return F.cross_entropy(kept, labels[keep])  # expect: boolean-mask-index


def contract(x: torch.Tensor) -> torch.Tensor:
    mag = torch.linalg.norm(x, dim=-1)
    far = mag >= 1
    out = x.clone()
    out[far] = (2 - 1 / mag[far])[..., None] * x[far]  # expect: boolean-mask-index
    return out


class Field(torch.nn.Module):
    def forward(self, positions):
        return contract(positions)


def train(model, loader, optimizer):
    for images, boxes in loader:
        scores = model(images)
        positive = scores > 0.5
        loss = scores[positive].sum()  # expect: boolean-mask-index
        loss.backward()
        optimizer.step()


class Mixture(torch.nn.Module):
    def forward(self, value):
        mask = self.mask
        if mask.shape != value.shape:
            mask = mask.expand(value.shape)
        result = self.first(value)
        result[mask] = self.second(value)[mask]  # expect: boolean-mask-index
        return result


class Labeller(pl.LightningModule):
    def training_step(self, batch, batch_idx):
        x, y = batch
        scores = self.net(x)
        chosen = scores[y == 1]  # expect: boolean-mask-index
        return chosen.mean()


class TrainedFrames(torch.nn.Module):
    def forward(self, x: torch.Tensor, inference: bool = False):
        distances = self.distances(x)
        if not inference:
            return distances[x.sum(-1) > 0]  # expect: boolean-mask-index
        return distances


class Kept(torch.nn.Module):
    def forward(self, x):
        keep = torch.ones(x.shape[0], dtype=torch.bool, device=x.device)
        keep[0] = False
        some = (x.sum(-1) / 2).to(torch.bool)
        return x[keep].sum() + x[some].sum()  # expect: boolean-mask-index


class Masking(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.token = torch.nn.Parameter(torch.zeros(width))

    def forward(self, x, noise):
        hidden = torch.rand(x.shape[:2], device=x.device) < 0.5
        x[hidden] = self.token  # expect: boolean-mask-index
        column = hidden.any(0)
        some = x[:, column]  # expect: boolean-mask-index
        first = x[hidden, 0]  # expect: boolean-mask-index
        x[hidden] += noise  # expect: boolean-mask-index
        return x, some, first


def assign_targets(points, boxes):
    """Labels of points by the box that holds them."""
    inside = torch.cdist(points, boxes).min(1).values < 1
    labels = points.new_zeros(points.shape[0])
    labels[inside] = torch.cdist(points[:8], boxes).argmin(1)  # expect: boolean-mask-index
    return labels


class Head(torch.nn.Module):
    def forward(self, points, boxes):
        return assign_targets(points, boxes)


class Transcripts(torch.nn.Module):
    def join(self, padded):
        return torch.cat([one[one != -1] for one in padded])  # expect: boolean-mask-index

    def forward(self, padded):
        return self.join(padded)


class Points(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.seen = torch.zeros(1000, device="cuda")

    def forward(self, x, visible_filter):
        self.seen[visible_filter] += 1  # expect: boolean-mask-index
        return x


import numpy as np


class Spline(nn.Module):
    def forward(self, inputs):
        return self.transform(inputs, np.log(np.exp(1 - 1e-3) - 1))

    def transform(self, values, constant):
        inside_mask = (values >= -1) & (values <= 1)
        outputs = torch.zeros_like(values) + np.log(constant)
        outputs[inside_mask] = constant * values[inside_mask]  # expect: boolean-mask-index
        return outputs


def select(features, index, mask=None):
    features = features.gather(1, index)
    if mask is not None:
        mask = mask.unsqueeze(2).expand_as(features)
        features = features[mask > 0]  # expect: boolean-mask-index
    return features


class Selected(torch.nn.Module):
    def forward(self, x, index, valid):
        return select(x, index, mask=valid)


class Selected(torch.nn.Module):
    def forward(self, x, keep, data):
        kept = x[~keep]  # expect: boolean-mask-index
        trained = self.layers(x)[data.train_mask]  # expect: boolean-mask-index
        return kept.sum() + trained.sum()


from torch import Tensor as T


class Condensation(nn.Module):
    def forward(self, beta: T, particle: T) -> T:
        best = []
        for p in torch.unique(particle):
            same = (particle == p).squeeze(-1)
            best.append(beta[same].max())  # expect: boolean-mask-index
        return torch.stack(best)


def triplet(features, labels):
    hardest = []
    for i in range(len(labels)):
        same = labels == labels[i]
        hardest.append(features[same].max())  # expect: boolean-mask-index
    known = (labels >= 0) & (labels < 10)
    return torch.stack(hardest).mean() + labels[known].sum()  # expect: boolean-mask-index


class Embedded(torch.nn.Module):
    def forward(self, x, labels):
        return triplet(x, labels)


class Enrich(torch.nn.Module):
    def forward(self, payloads, lengths, width):
        for name, param in self.dummies.items():
            padded = param.repeat(lengths.size(0), width, 1).to(lengths.dtype)
            mask = torch.logical_and(lengths > 2, lengths < width)
            padded[mask] = payloads[name].to(padded.dtype)  # expect: boolean-mask-index
        return padded


class Chosen(torch.nn.Module):
    def forward(self, x, batch):
        return x[batch["label"] > 0]  # expect: boolean-mask-index


class Edges(torch.nn.Module):
    def forward(self, x, edges, kinds):
        once = edges[:, edges[0] < edges[1]]  # expect: boolean-mask-index
        sources, targets = once[0], once[1]
        across = self.weights[sources != targets]  # expect: boolean-mask-index
        chosen = self.weights[(kinds.view(-1) == 3) & self.known]  # expect: boolean-mask-index
        loops = edges[0] == edges[1]
        return x.sum() + edges[:, loops].sum() + across.sum() + chosen.sum()  # expect: boolean-mask-index


def chosen_neighbours(pos, batch, chosen=None):
    if chosen is None:
        return radius_graph(pos, batch)
    else:
        chosen = chosen.bool()
        return radius(pos, pos[chosen], batch)  # expect: boolean-mask-index


def train_chosen(model, loader, optimizer):
    for batch in loader:
        edges = chosen_neighbours(batch.pos.cuda(), batch.batch.cuda(), chosen=batch.side.cuda())
        loss = model(batch.pos.cuda(), edges)
        loss.backward()
        optimizer.step()


class Rotation(torch.nn.Module):
    def forward(self, angles, axes):
        small = angles < 1e-3
        large = ~small
        picked = self.table[large, axes]  # expect: boolean-mask-index
        return picked.sum() + (axes * self.scale[large]).sum()  # expect: boolean-mask-index


class Detections(torch.nn.Module):
    def targets(self, labels):
        return torch.zeros(labels.shape), torch.ones(labels.shape)

    def forward(self, x: torch.Tensor, labels):
        wanted, unwanted = self.targets(labels)
        if self.on_device:
            wanted = wanted.type_as(x)
        return x[wanted == 1].mean()  # expect: boolean-mask-index


def baseline(lengths: torch.Tensor, valid: torch.Tensor):
    return lengths[0, :, 1][valid[0, :, 1]].median()  # expect: boolean-mask-index


class Kept(torch.nn.Module):
    def forward(self, x: torch.Tensor, mask, batch, lengths):
        flat = x.view(-1)[mask.view(-1)]  # expect: boolean-mask-index
        first = x[batch["valid_mask"][0]]  # expect: boolean-mask-index
        return flat.mean() + first.mean() + baseline(lengths, mask)


def train_masked_rows(model, loader, optimizer):
    for batch in loader:
        scores = model(batch["x"])
        action_masks = batch["action_masks"].cuda(non_blocking=True)
        first = scores[0][action_masks[0]]  # expect: boolean-mask-index
        first.mean().backward()
        optimizer.step()


class MaskedHead(torch.nn.Module):
    def forward(self, features, masked_tokens=None):
        if masked_tokens is not None:
            features = features[masked_tokens, :]  # expect: boolean-mask-index
        return self.project(features)
