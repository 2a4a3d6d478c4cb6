import torch


class Attention(torch.nn.Module):
    def forward(self, x):
        mask = torch.triu(torch.ones(x.size(1), x.size(1), device=x.device), diagonal=1)  # expect: mask-recreated
        tril = torch.ones(8, 8, device=x.device).tril()  # expect: mask-recreated
        return x + mask.sum() + tril.sum()
