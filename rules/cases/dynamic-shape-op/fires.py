import torch
from torch_geometric.nn import global_mean_pool
from torch_geometric.utils import to_dense_batch
from torch_scatter import scatter_add


class Router(torch.nn.Module):
    def forward(self, scores: torch.Tensor):
        index = torch.nonzero(scores > 0)  # expect: dynamic-shape-op
        rows = torch.where(scores > 0.5)  # expect: dynamic-shape-op
        return torch.masked_select(scores, scores > 0), index, rows  # expect: dynamic-shape-op


def token_log_probs(logits: torch.Tensor, tokens: torch.Tensor):
    rows = torch.nonzero(tokens >= 0)  # expect: dynamic-shape-op
    return logits[rows]


class Labels(torch.nn.Module):
    def forward(self, logits, labels):
        weights = torch.nn.functional.one_hot(labels)  # expect: dynamic-shape-op
        return (logits * weights).sum()


class Routing(torch.nn.Module):
    def forward(self, tokens: torch.Tensor, experts: torch.Tensor):
        load = torch.bincount(experts.flatten(), minlength=8)  # expect: dynamic-shape-op
        return tokens * load[experts]


class Sampling(torch.nn.Module):
    def __init__(self, uniform=False):
        super().__init__()
        self.uniform = uniform

    def forward(self, ids):
        if self.uniform:
            return torch.unique(ids)  # expect: dynamic-shape-op
        return ids


class Sampler(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.sampling = Sampling(uniform=True)

    def forward(self, ids):
        return self.sampling(ids)


class Histogram(torch.nn.Module):
    def forward(self, x):
        counts = torch.histc(x, bins=64)  # expect: dynamic-shape-op
        return counts / counts.sum()


class PerGraph(torch.nn.Module):
    def forward(self, x, batch):
        sizes = batch.bincount()  # expect: dynamic-shape-op
        for graph in batch.unique():  # expect: dynamic-shape-op
            x = x + graph
        return x / sizes.max()


class GraphLevel(torch.nn.Module):
    def forward(self, data):
        x = self.conv(data.x, data.edge_index)
        dense, mask = to_dense_batch(x, data.batch)  # expect: dynamic-shape-op
        summed = scatter_add(x[data.edge_index[0]], data.edge_index[1], dim=0)  # expect: dynamic-shape-op
        return global_mean_pool(x, data.batch), dense, mask, summed  # expect: dynamic-shape-op


class Propagation(torch.nn.Module):
    def forward(self, x, edges, weights):
        graph = torch.sparse_coo_tensor(edges, weights, (x.size(0), x.size(0)))
        graph = graph.coalesce()  # expect: dynamic-shape-op
        return torch.sparse.mm(graph, x)


class Dispatcher:
    def __init__(self, gates: torch.Tensor):
        self.rows = torch.nonzero(gates)  # expect: dynamic-shape-op


class Experts(torch.nn.Module):
    def forward(self, gates: torch.Tensor):
        return Dispatcher(gates).rows  # made anew in each pass


class Factors(torch.nn.Module):
    def forward(self, rows: torch.Tensor):
        kept = (self.users * rows).to_sparse()  # expect: dynamic-shape-op
        return torch.sparse.mm(kept, self.items)
