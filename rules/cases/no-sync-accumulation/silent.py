import contextlib

import torch
from torch.nn.parallel import DistributedDataParallel as DDP


def train(model, loader, optimizer, accumulation_steps, rank):
    model = DDP(model, device_ids=[rank])
    for i, batch in enumerate(loader):
        last = (i + 1) % accumulation_steps == 0
        with contextlib.nullcontext() if last else model.no_sync():
            (model(batch) / accumulation_steps).backward()
        if last:
            optimizer.step()
            optimizer.zero_grad()
