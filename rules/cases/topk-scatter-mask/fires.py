import torch


class Router(torch.nn.Module):
    def forward(self, logits):
        values, indices = logits.topk(2, dim=-1)
        mask = torch.zeros_like(logits).scatter_(1, indices, 1.0)  # expect: topk-scatter-mask
        sparse = torch.zeros_like(logits).scatter(-1, indices, values)  # expect: topk-scatter-mask
        return logits * mask + sparse


class TopKActivation(torch.nn.Module):
    def forward(self, x):
        best = torch.topk(x, self.k, dim=-1)
        return torch.zeros_like(x).scatter_(-1, best.indices, best.values)  # expect: topk-scatter-mask


class SparseCoder(torch.nn.Module):
    """Two kernels and a tensor of zeros for a mask of what is largest."""

    def forward(self, x):
        codes = torch.relu(self.encode(x))
        values, indices = torch.topk(codes, self.active, dim=-1)
        sparse = torch.zeros_like(codes).scatter_(-1, indices, values)  # expect: topk-scatter-mask
        return self.decode(sparse)
