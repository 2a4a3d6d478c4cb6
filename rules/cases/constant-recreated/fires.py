import math

import torch
from torch import nn


class Rotary(nn.Module):
    def __init__(self, dim, base=10000.0):
        super().__init__()
        self.dim, self.base = dim, base

    def forward(self, x):
        inv = 1.0 / (self.base ** (torch.arange(0, self.dim, 2, device=x.device).float() / self.dim))  # expect: constant-recreated
        t = torch.arange(x.shape[1], device=x.device)
        freqs = torch.outer(t, inv)
        return torch.cat((freqs, freqs), -1)


class Sinusoidal(nn.Module):
    def forward(self, time):
        half = 64
        scale = math.log(10000) / (half - 1)
        table = torch.exp(torch.arange(half, device=time.device) * -scale)  # expect: constant-recreated
        angles = time[:, None] * table[None]
        return torch.cat((angles.sin(), angles.cos()), dim=-1)


class Spectrogram(nn.Module):
    def forward(self, audio):
        window = torch.hann_window(1024, device=audio.device)  # expect: constant-recreated
        return torch.stft(audio, 1024, window=window, return_complex=True)


class Bits(nn.Module):
    def forward(self, x):
        powers = 2 ** torch.arange(7, -1, -1, device=x.device)  # expect: constant-recreated
        return ((x.unsqueeze(-1).int() & powers) != 0).float()


def ssim_loss(img1, img2, window_size=11):
    window = create_window(window_size, img1.shape[1]).type_as(img1)  # expect: constant-recreated
    return 1 - ssim(img1, img2, window)


class Loss(nn.Module):
    def forward(self, x, y):
        return ssim_loss(x, y)


class FreshMelLoss(nn.Module):
    @staticmethod
    def get_window(kind, size):
        return scipy_window(kind, size)

    def forward(self, x):
        window = self.get_window("hann", 512)  # expect: constant-recreated
        return spectrum(x, window)


class Rotating(pl.LightningModule):
    def training_step(self, batch, batch_idx):
        angles = 10000.0 ** (torch.arange(32, device=self.device) / 32)  # expect: constant-recreated
        return self.model(batch, angles).mean()


class Frequencies(nn.Module):
    def forward(self, x):
        dim, theta = x.shape[-1], 10000.0
        freqs = 1.0 / (theta ** (torch.arange(0, dim, 2)[: (dim // 2)].float() / dim))  # expect: constant-recreated
        return x * freqs.to(x.device)


class Anchors(nn.Module):
    def forward(self, x):
        xs = torch.arange(0, x.shape[-1], device=x.device)
        ys = torch.arange(0, x.shape[-2], device=x.device)
        yy, xx = torch.meshgrid(ys, xs, indexing="ij")  # expect: constant-recreated
        return torch.stack((xx, yy), -1)


class Packed(torch.nn.Module):
    def forward(self, q, k, v):
        b, n = q.shape[:2]
        offsets = torch.arange(0, (b + 1) * n, step=n, dtype=torch.int32, device=q.device)  # expect: constant-recreated
        return self.attend(q, k, v, offsets)


class Fourier(torch.nn.Module):
    def forward(self, x):
        scales = torch.logspace(0.0, 4.0, 16, device=x.device)  # expect: constant-recreated
        return torch.sin(x)[..., None] * scales
