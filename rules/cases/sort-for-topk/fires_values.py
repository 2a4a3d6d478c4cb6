import torch


class Nearest(torch.nn.Module):
    def forward(self, distances):
        near = distances.sort(-1).values[..., :8]  # expect: sort-for-topk
        places = torch.sort(distances, dim=-1).indices[:, :8]  # expect: sort-for-topk
        ordered = distances.sort(-1)  # expect: sort-for-topk
        return near, places, ordered.values[:, :3]
