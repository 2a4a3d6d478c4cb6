"""Arrays of a replay memory become tensors that the host copies and waits for."""

import torch


def train(model, optimizer, memory, device, steps):
    for _ in range(steps):
        batch = memory.sample(64)
        states = torch.from_numpy(batch.states).float().to(device)  # expect: blocking-host-to-device
        targets = torch.from_numpy(batch.targets).cuda()  # expect: blocking-host-to-device
        loss = (model(states) - targets).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
