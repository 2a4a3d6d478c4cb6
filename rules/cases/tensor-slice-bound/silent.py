import torch


class Pack(torch.nn.Module):
    def forward(self, x, lengths: torch.Tensor, limit: int):
        x = x[:, : x.shape[1] // 2]
        n = x.size(0)
        x = x[:n, :limit]
        mask = torch.arange(x.shape[1], device=x.device) < lengths[:, None]
        for layer in range(len(x.shape)):
            x = x + layer
        return x * mask
