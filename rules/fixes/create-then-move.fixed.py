# Safe: the same values, of the same type, on the same device. What draws numbers is left, and so is what
# has a device, takes part in autograd or is pinned.
import torch
import torch.nn as nn


class Block(nn.Module):
    def forward(self, x, device):
        mask = torch.zeros(x.shape[0], 4, device=x.device)
        bias = torch.ones((4,), dtype=torch.float32, device="cuda")
        noise = torch.randn(4).to(device)  # left: another generator gives other numbers
        scale = torch.full((4,), 2.0).to(torch.float16)
        return x * mask + bias + noise * scale
