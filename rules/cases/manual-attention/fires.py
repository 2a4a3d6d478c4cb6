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
