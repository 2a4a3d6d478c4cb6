import functools

import torch
from torch import nn


class Rotary(nn.Module):
    def __init__(self, dim, base=10000.0):
        super().__init__()
        self.register_buffer("inv", 1.0 / (base ** (torch.arange(0, dim, 2).float() / dim)))
        self.table = None

    def forward(self, x):
        if self.table is None:
            self.table = torch.hann_window(x.shape[-1], device=x.device)
        return x * self.inv * self.table


@functools.lru_cache(maxsize=8)
def window(length, device):
    return torch.hann_window(length, device=device)


class Spectrogram(nn.Module):
    def forward(self, audio):
        return torch.stft(audio, 1024, window=window(1024, audio.device), return_complex=True)


def positions(x):
    return torch.arange(x.shape[1], device=x.device)


class SSIM(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.register_buffer("window", create_window(size, 3))

    def forward(self, x, y):
        if (x.dtype, x.device) not in self.cache:
            self.cache[x.dtype, x.device] = create_window(11, 3)
        return ssim(x, y, self.window)


class MelLoss(nn.Module):
    @staticmethod
    @functools.lru_cache(None)
    def get_window(kind, size):
        return scipy_window(kind, size)

    def forward(self, x):
        window = self.get_window("hann", 512)  # made once
        return spectrum(x, window)


class Spectrum(torch.nn.Module):
    def forward(self, x):
        n = x.shape[-1]
        if n != self.length:
            self.length = n
            self.window = torch.hann_window(n, device=x.device)
        return x * self.window


class Similarity(nn.Module):
    """The window is made again when the number of channels changes."""

    def __init__(self):
        super().__init__()
        self.channel = 1
        self.window = gaussian(11, 1)

    def forward(self, a, b):
        channel = a.size(1)
        if channel == self.channel and self.window.dtype == a.dtype:
            window = self.window
        else:
            window = torch.arange(11.0).expand(channel, 1, 11)
            self.window = window
            self.channel = channel
        return (a * window).sum() - b.sum()


class Crossing(nn.Module):
    def forward(self, xs, ys):
        yy, xx = torch.meshgrid(ys.softmax(-1), xs.softmax(-1))  # other values in each pass
        return xx * yy


class Positions(torch.nn.Module):
    def forward(self, x):
        return x + self.table[torch.arange(0, x.shape[1], device=x.device)]
