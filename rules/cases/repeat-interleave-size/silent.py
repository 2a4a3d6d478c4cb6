import torch


class Attention(torch.nn.Module):
    def __init__(self, groups):
        super().__init__()
        self.groups = groups

    def forward(self, key, value, count):
        key = key.repeat_interleave(self.groups, dim=2)
        value = torch.repeat_interleave(value, repeats=4, dim=2)
        wide = key.repeat_interleave(count, dim=0, output_size=value.shape[0])
        n = key.size(1) // 2
        return key.repeat_interleave(n, dim=1) + wide


class Heads(torch.nn.Module):
    def forward(self, data, key):
        key = key.repeat_interleave(self.config["groups"], dim=1)
        return key.repeat_interleave(data["nedges"], dim=0, output_size=data["edges"].shape[0])


class Repeated(torch.nn.Module):
    def forward(self, x, batch, times):
        first = x[:, 0] - x[:, 1]
        return first.repeat_interleave(times, dim=0), x.repeat_interleave(batch.heads, dim=1)
