import numpy as np
import torch
from torch_geometric.nn import global_add_pool, global_mean_pool
from torch_geometric.utils import to_dense_batch
from torch_scatter import scatter_add


class Router(torch.nn.Module):
    def forward(self, scores: torch.Tensor):
        table = np.unique(np.arange(10))
        return torch.where(scores > 0, scores, 0.0), table


class KnownLabels(torch.nn.Module):
    def forward(self, logits, labels):
        weights = torch.nn.functional.one_hot(labels, logits.shape[-1])
        more = torch.nn.functional.one_hot(labels, num_classes=4)
        return (logits * weights).sum() + more.sum()


def vocabulary(dataset):
    """Of the files, once: nothing waits for it."""
    labels = torch.tensor([entry["label"] for entry in dataset])
    classes, counts = torch.unique(labels, return_counts=True)
    return classes[counts > 10]


def train(model, loader, optimizer):
    for step, (x, y) in enumerate(loader):
        loss = torch.nn.functional.cross_entropy(model(x), y, reduction="none")
        loss = torch.where(y >= 0, loss, torch.zeros_like(loss)).mean()
        loss.backward()
        optimizer.step()
        if step % 1000 == 0:
            print(torch.nonzero(model.mask).shape[0], "weights are left")


def radius_graph(positions, cutoff, limit=None):
    distances = torch.cdist(positions, positions)
    near = (distances < cutoff).float()
    if limit is not None:
        order = torch.argsort(distances, dim=1)
        near = near + order.masked_select(order < limit).sum()  # nobody gives a limit
    return near


class Graphs(torch.nn.Module):
    def forward(self, positions):
        return radius_graph(positions, 6.0).sum(1)


class Grouping(torch.nn.Module):
    def __init__(self, radius, uniform=False):
        super().__init__()
        self.radius = radius
        self.uniform = uniform

    def forward(self, ids):
        if self.uniform:
            return torch.unique(ids)
        return ids


class Backbone(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.grouping = Grouping(0.2)

    def forward(self, ids):
        return self.grouping(ids)


class Router(torch.nn.Module):
    """With bounds the number of bins is all that has to be known."""

    def forward(self, experts):
        return torch.histc(experts, bins=self.experts, min=0, max=self.experts)


def episodes(dones):
    return dones.nonzero().squeeze()


def learn(model, loader, optimizer):
    """A copy that was asked for without a wait, by its name on the host."""
    for batch in loader:
        ends = episodes(batch.dones_cpu)
        model(batch.observations, ends).backward()
        optimizer.step()


class GraphLevel(torch.nn.Module):
    def forward(self, data):
        x = self.conv(data.x, data.edge_index)
        dense, mask = to_dense_batch(x, data.batch, max_num_nodes=64, batch_size=data.num_graphs)
        summed = scatter_add(x[data.edge_index[0]], data.edge_index[1], dim=0, dim_size=x.size(0))
        whole = global_add_pool(x, None)  # one graph
        return global_mean_pool(x, data.batch, size=data.num_graphs), whole, dense, mask, summed


class Kept(torch.nn.Module):
    """The graph is brought into order once."""

    def __init__(self, edges, weights, n):
        super().__init__()
        self.graph = torch.sparse_coo_tensor(edges, weights, (n, n)).coalesce()

    def forward(self, x):
        return torch.sparse.mm(self.graph, x)


class GateBuffer:
    def __init__(self, gates: torch.Tensor):
        self.rows = torch.nonzero(gates)


class Experts(torch.nn.Module):
    def __init__(self, gates):
        super().__init__()
        self.buffer = GateBuffer(gates)

    def forward(self, x):
        return x[self.buffer.rows[0]]


class Boxes(torch.nn.Module):
    def forward(self, boxes: torch.Tensor):
        degenerate = boxes[:, 2:] <= boxes[:, :2]
        if degenerate.any():
            first = torch.where(degenerate.any(dim=1))[0][0]
            torch._assert(False, f"box {first} has no area")
        return boxes


class Codebook(torch.nn.Module):
    def init_codes(self, samples: torch.Tensor):
        if self.inited:
            return
        self.codes.copy_(torch.bincount(samples))
        self.inited.fill_(True)

    def forward(self, samples):
        self.init_codes(samples)
        return self.codes[samples]


class Factors(torch.nn.Module):
    def __init__(self, graph: torch.Tensor):
        super().__init__()
        self.graph = graph.to_sparse()  # once

    def forward(self, items: torch.Tensor):
        return torch.sparse.mm(self.graph, items)
