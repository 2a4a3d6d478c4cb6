import torch
import torch.nn.functional as F


class Attention(torch.nn.Module):
    def forward(self, q, k, v):
        if self.fused:
            return F.scaled_dot_product_attention(q, k, v)
        att = (q @ k.transpose(-2, -1)).softmax(dim=-1)
        return att @ v


class Router(torch.nn.Module):
    def forward(self, x):
        gates = (x @ self.weight).softmax(dim=-1)
        return gates.topk(2)


class Classifier(torch.nn.Module):
    def forward(self, x):
        return F.softmax(self.head(x), dim=-1)


class Experts(torch.nn.Module):
    def __init__(self, dim, experts):
        super().__init__()
        self.gate = torch.nn.Linear(dim, experts)
        self.activation = torch.nn.Softmax(dim=-1)

    def forward(self, x, outputs):
        gates = self.activation(self.gate(x))
        return torch.einsum("be,bed->bd", gates, outputs)


class Scores(torch.nn.Module):
    def forward(self, q, k):
        scores = torch.matmul(q, k.transpose(-1, -2))
        return F.softmax(scores, dim=-1)


class Shown(torch.nn.Module):
    def forward(self, q, k, v):
        att = torch.matmul(q, k.transpose(-2, -1)).softmax(dim=-1)
        out = torch.matmul(att, v)
        return out, att.mean(dim=1)


class Kept(torch.nn.Module):
    def forward(self, q, k, v):
        att = F.softmax(q @ k.transpose(-2, -1), dim=-1)
        self.maps = att
        return att @ v


class Collected(torch.nn.Module):
    def forward(self, q, k, v, maps):
        weights = F.softmax(q @ k.transpose(-2, -1), dim=-1)
        maps.append(weights.detach())
        return weights @ v


class BlockSparse(torch.nn.Module):
    def forward(self, q, k, v):
        blocks = []
        first = torch.softmax(q[:, 0] @ k.transpose(-2, -1), dim=-1)
        blocks.append(first @ v)
        second = torch.softmax(q[:, 1] @ k[:, :3].transpose(-2, -1), dim=-1)
        blocks.append(second @ v[:, :3])
        middle = torch.softmax(q[:, 2:-1] @ k[:, 1:-1].transpose(-2, -1), dim=-1)
        blocks.append(middle @ v[:, 1:-1])
        last = torch.softmax(q[:, -1] @ k[:, -3:].transpose(-2, -1), dim=-1)
        blocks.append(last @ v[:, -3:])
        return torch.stack(blocks, dim=1)


class Spread(torch.nn.Module):
    def forward(self, x):
        if self.kind == 0:
            x = torch.bmm(x, self.weights(x).transpose(1, 2))
        else:
            # no product gave these: one of the other branch has the name
            y = F.softmax(self.scores(x), dim=1)
            x = torch.bmm(x, y)
        return x


class OverChannels(torch.nn.Module):
    def forward(self, x):
        q, k, v = self.qkv(x).unbind(0)
        q = q.transpose(-2, -1)
        k = k.transpose(-2, -1)
        v = v.transpose(-2, -1)
        weights = ((q @ k.transpose(-2, -1)) * self.temperature).softmax(dim=-1)
        return weights @ v


class GemmaAttention(torch.nn.Module):
    """The eager one of the two: chosen where the fused kernel cannot run."""

    def forward(self, q, k, v):
        weights = F.softmax(q @ k.transpose(-2, -1), dim=-1)
        return weights @ v


class GemmaSdpaAttention(GemmaAttention):
    def forward(self, q, k, v):
        return F.scaled_dot_product_attention(q, k, v)


class WithScoresOfOthers(nn.Module):
    def forward(self, q, k, v, others):
        scores = torch.cat((torch.matmul(q, k.transpose(2, 3)), others), 0)
        weights = self.aggregate(scores.permute(1, 2, 3, 0)).permute(3, 0, 1, 2)
        return torch.matmul(torch.softmax(weights, dim=-1), v)


class OverQueries(torch.nn.Module):
    """Each column has the sum one: the fused kernel would compute something else."""

    def forward(self, q, k, v):
        scores = torch.einsum("bihd,bjhd->bijh", q, k) * self.scale
        weights = scores.softmax(dim=1)
        return torch.einsum("bijh,bjhd->bihd", weights, v)


class OfColumns(torch.nn.Module):
    def forward(self, q, k, v):
        weights = torch.softmax(torch.bmm(q, k.transpose(1, 2)), 1)
        return torch.bmm(weights, v)
