import torch


class Relative(torch.nn.Module):
    def forward(self, x):
        rows = torch.arange(x.shape[1])[:, None] - torch.arange(x.shape[1])[None, :]
        bias = self.table.weight.float()
        picked = x[[0, 2, 5]]  # expect: host-index-on-device
        columns = x[:, [1, 3]]  # expect: host-index-on-device
        offsets = torch.arange(4)
        more = x[offsets]  # expect: host-index-on-device
        return picked.sum() + columns.sum() + more.sum() + bias.sum() + rows.numel()
