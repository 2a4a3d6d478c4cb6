import torch


class Pack(torch.nn.Module):
    def forward(self, x, lengths: torch.Tensor):
        longest = lengths.max()
        x = x[:, :longest]  # expect: tensor-slice-bound
        total = torch.cumsum(lengths, 0)
        head = x[: total[-1]]  # expect: tensor-slice-bound
        out = []
        for i in range(lengths.sum()):  # expect: tensor-slice-bound
            out.append(head[i])
        return torch.stack(out)
