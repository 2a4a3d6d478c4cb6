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
