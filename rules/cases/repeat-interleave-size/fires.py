import torch


def softmax_segments(src: torch.Tensor, ptr: torch.Tensor):
    count = ptr[1:] - ptr[:-1]
    peak = src.max(dim=0).values
    return peak.repeat_interleave(count, dim=0)  # expect: repeat-interleave-size


class Experts(torch.nn.Module):
    def forward(self, bias, tokens_per_expert: torch.Tensor, mask):
        wide = bias.repeat_interleave(tokens_per_expert.to(torch.long), dim=0)  # expect: repeat-interleave-size
        ids = torch.repeat_interleave(torch.arange(8, device=bias.device), mask.sum(dim=1))  # expect: repeat-interleave-size
        return softmax_segments(wide, ids)


class Edges(torch.nn.Module):
    def forward(self, data):
        cell = data["cell"].repeat_interleave(data["nedges"], dim=0)  # expect: repeat-interleave-size
        return torch.repeat_interleave(cell, data["mol_sizes"], dim=0)  # expect: repeat-interleave-size


class Repeat(torch.nn.Module):
    def forward(self, x, counts):
        places = torch.arange(counts.size(0), device=x.device)
        return x[torch.repeat_interleave(places, counts)]  # expect: repeat-interleave-size


class Unpacked(torch.nn.Module):
    def forward(self, x, batch, lengths):
        counts = batch.ptr[1:] - batch.ptr[:-1]
        shift = x.repeat_interleave(counts)  # expect: repeat-interleave-size
        seen = torch.arange(8, device=x.device)[None] < lengths[:, None]
        return shift, seen, torch.repeat_interleave(x, lengths)  # expect: repeat-interleave-size


class Grid(torch.nn.Module):
    def forward(self, x, sizes):
        lengths = torch.repeat_interleave(sizes[:, 1] * sizes[:, 2], sizes[:, 0])  # expect: repeat-interleave-size
        return x[: x.size(0) // 2], lengths
