import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("table", torch.zeros(10).cuda())

    def forward(self, x):
        noise = torch.randn(x.shape, device=x.device)
        return x + noise + torch.zeros_like(x).to(x.dtype)
