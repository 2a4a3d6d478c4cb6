import torch
from torch import nn


class Positional(nn.Module):
    def __init__(self, length, dim):
        super().__init__()
        self.table = torch.zeros(length, dim)
        self.freqs = torch.cat([self.angles(dim), self.angles(dim)], dim=0)
        self.scale = torch.tensor([0.5, 0.25])

    def angles(self, dim):
        return torch.outer(torch.arange(8), 1.0 / torch.pow(100.0, torch.arange(0, dim, 2).div(dim)))

    def forward(self, x):
        x = x + self.table[: x.shape[1]].to(x.device)  # expect: tensor-not-buffer
        rotated = x * self.freqs.to(x.device)[: x.shape[1]]  # expect: tensor-not-buffer
        return rotated * self.scale.cuda()  # expect: tensor-not-buffer


class Anchors(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.anchors = [torch.zeros(size, 4) for size in sizes]

    def forward(self, x):
        anchors = [a.to(x.device) for a in self.anchors]  # expect: tensor-not-buffer
        return x + torch.cat(anchors)


class Normalised(nn.Module):
    """The mean of the images is moved with each batch."""

    def __init__(self, encoder):
        super().__init__()
        self.encoder = encoder
        self.mean = torch.tensor([0.485, 0.456, 0.406]).view(1, 3, 1, 1)

    def forward(self, image):
        image = image - self.mean.to(image.device)  # expect: tensor-not-buffer
        return self.encoder(image)


def signal_to_noise(noise_scheduler, timesteps):
    kept = noise_scheduler.alphas_cumprod**0.5
    return kept.to(device=timesteps.device)[timesteps]  # expect: tensor-not-buffer


def train(model, loader, optimizer, noise_scheduler):
    for x in loader:
        t = torch.randint(0, 1000, (len(x),), device="cuda")
        loss = (model(x, t) * signal_to_noise(noise_scheduler, t)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def train_denoiser(model, loader, optimizer, device):
    noise_scheduler = DDPMScheduler.from_pretrained("denoiser")
    for x, steps in loader:
        sigmas = noise_scheduler.sigmas.to(device)  # expect: tensor-not-buffer
        times = noise_scheduler.timesteps.to(device)  # expect: tensor-not-buffer
        model(x * sigmas[steps], times[steps]).mean().backward()
        optimizer.step()


class Predictor(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.attn_mask = build_action_block_causal_mask(n)

    def forward(self, x):
        mask = self.attn_mask[: x.size(1), : x.size(1)].to(x.device, non_blocking=True)  # expect: tensor-not-buffer
        return x.masked_fill(mask, 0.0)
