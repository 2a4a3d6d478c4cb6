"""Arrays that are pinned and copied beside the work, cast where they are, or copied once."""

import torch


def train(model, optimizer, memory, device, steps):
    weights = torch.from_numpy(memory.weights).to(device)
    for _ in range(steps):
        batch = memory.sample(64)
        states = torch.from_numpy(batch.states).pin_memory().to(device, non_blocking=True)
        mask = torch.from_numpy(batch.mask).to(torch.bool)
        loss = (model(states) * weights).square().mean()
        memory.note(mask)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
