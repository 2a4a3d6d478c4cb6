import torch
import torch.distributed as dist


class ClipLoss(torch.nn.Module):
    def forward(self, image):
        dist.all_gather_into_tensor(self.gathered, image)
        heads = [torch.relu(image) for _ in range(4)]
        return self.gathered @ torch.stack(heads).T


def evaluate_once(step, features):
    if step % 100 == 0:
        out = [torch.zeros_like(features) for _ in range(8)]
        dist.all_gather(out, features)
        return torch.cat(out)
    return [layer.weight for layer in features]


class FeatureQueue:
    """Buffers are made with the object and used in each step."""

    def __init__(self, batch, width, world_size, device):
        self.parts = [torch.empty(batch, width, device=device) for _ in range(world_size)]
        self.queue = torch.zeros(65536, width, device=device)

    def training_step(self, features):
        dist.all_gather(self.parts, features)
        return torch.cat(self.parts) @ self.queue.T
