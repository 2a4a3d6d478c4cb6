import torch
from routing import dispatch


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


def train(model, loader, optimizer):
    for batch in loader:
        counts = dispatch(batch)
        for i in range(counts.sum()):  # expect: tensor-slice-bound
            model.visit(i)
        model(batch).mean().backward()
        optimizer.step()


def length_mask(lengths, longest=None):
    if longest is None:
        longest = lengths.max()
    steps = torch.arange(longest, device=lengths.device)  # expect: tensor-slice-bound
    return steps.unsqueeze(0) < lengths.unsqueeze(1)


class MaskedEncoder(torch.nn.Module):
    def forward(self, x, lengths):
        return self.layers(x) * length_mask(lengths, x.size(2))


class MaskedDecoder(torch.nn.Module):
    def forward(self, x, lengths):
        return self.layers(x) * length_mask(lengths)
