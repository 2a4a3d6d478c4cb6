# Made once for each key: tables of the module, of the object and of the function itself.
import numpy as np
import torch

mel_basis = {}


def log_mel(wave, bands, rate):
    global mel_basis
    key = str(bands) + "_" + str(wave.device)
    if key not in mel_basis:
        mel = filter_bank(rate, bands)
        mel_basis[key] = torch.from_numpy(mel).to(dtype=wave.dtype, device=wave.device)
    return torch.matmul(mel_basis[key], wave)


def phases(wave, bands, known={}):
    if bands in known:
        return known[bands] * wave
    known[bands] = torch.tensor(np.hanning(bands), device=wave.device)
    return known[bands] * wave


class Smooth(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.kernels = {}

    def forward(self, x):
        channels = x.shape[1]
        if channels in self.kernels:
            kernel = self.kernels[channels]
        else:
            kernel = torch.tensor(np.ones((channels, 1, 3)), device=x.device)
            self.kernels[channels] = kernel
        return torch.conv1d(x, kernel, groups=channels)


def train(model, loader, optimizer):
    for wave in loader:
        wave = wave.cuda(non_blocking=True)
        loss = model(phases(log_mel(wave, 80, 16000), 80)).mean()
        loss.backward()
        optimizer.step()
