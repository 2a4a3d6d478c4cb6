# Tables that every step begins anew, or that hold one entry for each step.
import numpy as np
import torch

noise = {}


def by_scale(wave, scales):
    made = {}
    for scale in scales:
        if scale not in made:
            made[scale] = torch.tensor(np.hanning(scale), device=wave.device)  # expect: host-constant-to-device
        wave = wave * made[scale]
    return wave


def perturb(wave, step):
    if step not in noise:
        noise[step] = torch.tensor(np.random.randn(80), device=wave.device)  # expect: host-constant-to-device
    return wave + noise[step]


def train(model, loader, optimizer):
    for step, wave in enumerate(loader):
        wave = wave.cuda(non_blocking=True)
        loss = model(perturb(by_scale(wave, (1, 2)), step)).mean()
        loss.backward()
        optimizer.step()
