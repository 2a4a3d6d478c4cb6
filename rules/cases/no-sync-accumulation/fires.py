import torch
from torch.nn.parallel import DistributedDataParallel as DDP


def train(model, loader, optimizer, accumulation_steps, rank):
    model = DDP(model, device_ids=[rank])
    for i, batch in enumerate(loader):
        loss = model(batch) / accumulation_steps
        loss.backward()  # expect: no-sync-accumulation
        if (i + 1) % accumulation_steps == 0:
            optimizer.step()
            optimizer.zero_grad()
