import torch


class Loss(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("weight", torch.tensor([0.1, 0.9]))
        self.cache = None

    def forward(self, x, y):
        if self.cache is None:
            self.cache = torch.tensor([1.0, 2.0], device=x.device)
        return (self.weight * (x - y) ** 2 * self.cache).mean() * torch.full((), 2.0, device=x.device)
