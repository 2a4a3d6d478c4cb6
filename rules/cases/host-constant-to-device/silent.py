import torch


class Loss(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("weight", torch.tensor([0.1, 0.9]))
        self.cached = {}

    def forward(self, x, y, rank):
        zero = torch.zeros((), device=x.device)
        one = torch.full((), 2.0, dtype=x.dtype, device=x.device)
        index = torch.tensor([rank, 3], device="cpu", pin_memory=True).cuda(non_blocking=True)
        if x.shape not in self.cached:
            self.cached[x.shape] = torch.tensor([1.0, 2.0], device=x.device)
        as_float = torch.tensor([1, 2]).to(torch.float32)
        return (self.weight * (x - y) ** 2).mean() + zero + one + index.sum() + as_float.numel()


def main(model, loader, optimizer):
    mean = torch.tensor([0.5, 0.4, 0.3], device="cuda")
    for x in loader:
        model(x - mean).backward()
        optimizer.step()
