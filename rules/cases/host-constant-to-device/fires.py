import torch


class Loss(torch.nn.Module):
    def forward(self, x, y):
        weight = torch.tensor([0.1, 0.9], device=x.device)  # expect: host-constant-to-device
        scale = torch.tensor(2.0).to(x.device)  # expect: host-constant-to-device
        return (weight * (x - y) ** 2).mean() * scale
