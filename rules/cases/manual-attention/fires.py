import math

import torch
import torch.nn.functional as F


class Attention(torch.nn.Module):
    def forward(self, q, k, v):
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        att = att.masked_fill(self.mask == 0, float("-inf"))
        att = F.softmax(att, dim=-1)  # expect: manual-attention
        return att @ v


class Einsum(torch.nn.Module):
    def forward(self, q, k, v):
        scores = torch.einsum("bhid,bhjd->bhij", q, k)
        weights = scores.softmax(dim=-1)  # expect: manual-attention
        return torch.einsum("bhij,bhjd->bhid", weights, v)


class Matmul(torch.nn.Module):
    def forward(self, query, key, value):
        scores = torch.matmul(query, key.transpose(-1, -2))
        probs = torch.nn.functional.softmax(scores, dim=-1)  # expect: manual-attention
        return torch.matmul(probs, value)


class Chunks(torch.nn.Module):
    def forward(self, qkv):
        q, k, v = qkv.chunk(3, dim=1)
        scale = k.shape[3] ** -0.25
        att = ((q * scale) @ (k.transpose(2, 3) * scale)).softmax(3)  # expect: manual-attention
        att = self.dropout(att)
        return (att @ v).transpose(2, 3)


class Layer(torch.nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.scale = dim**-0.5
        self.attend = torch.nn.Softmax(dim=-1)
        self.dropout = torch.nn.Dropout(0.1)

    def forward(self, q, k, v, mask=None):
        dots = torch.matmul(q, k.transpose(-1, -2)) * self.scale
        if mask is not None:
            dots = dots.masked_fill(~mask, -torch.finfo(dots.dtype).max)
        attn = self.attend(dots)  # expect: manual-attention
        attn = self.dropout(attn)
        return torch.matmul(attn, v)


class Renamed(torch.nn.Module):
    def forward(self, q, k, v, mask):
        scores = torch.einsum("bhid,bhjd->bhij", q, k)
        masked = torch.where(mask, self.scale * scores, -1e9)
        weights = F.softmax(masked.float(), dim=-1).type_as(q)  # expect: manual-attention
        kept = F.dropout(weights, p=0.1, training=self.training)
        return torch.einsum("bhij,bhjd->bhid", kept, v)


class Pixels(torch.nn.Module):
    def forward(self, q, k, v):
        w = torch.bmm(q, k)
        w = F.softmax(w * self.scale, dim=2)  # expect: manual-attention
        return torch.bmm(v, w.permute(0, 2, 1))


class Wanted(torch.nn.Module):
    def forward(self, q, k, v, output_attentions=False):
        att = F.softmax(q @ k.transpose(-2, -1), dim=-1)  # expect: manual-attention
        out = att @ v
        return (out, att if output_attentions else None)


class Overwritten(torch.nn.Module):
    def forward(self, q, k, v):
        att = F.softmax(q @ k.transpose(-2, -1), dim=-1)  # expect: manual-attention
        att = att @ v
        return att


class OverKeys(torch.nn.Module):
    def forward(self, q, k, v):
        scores = torch.einsum("bihd,bjhd->bijh", q, k) * self.scale
        weights = scores.softmax(dim=2)  # expect: manual-attention
        return torch.einsum("bijh,bjhd->bihd", weights, v)


class OfRows(torch.nn.Module):
    def forward(self, q, k, v):
        weights = torch.softmax(torch.bmm(q, k.transpose(1, 2)), 2)  # expect: manual-attention
        return torch.bmm(weights, v)


class Turned(torch.nn.Module):
    def forward(self, q, k, v):
        w = torch.bmm(q, k)
        w = F.softmax(w * self.scale, dim=2)  # expect: manual-attention
        w = w.permute(0, 2, 1)
        return torch.bmm(v, w)


class Biased(nn.Module):
    def forward(self, x, bias):
        q, k, v = self.query(x), self.key(x), self.value(x)
        weights = (q.movedim(-3, -2) @ k.movedim(-3, -1)) / self.scale + bias
        weights = F.softmax(weights, dim=-1)  # expect: manual-attention
        return (weights @ v.movedim(-2, -3)).flatten(-2)
