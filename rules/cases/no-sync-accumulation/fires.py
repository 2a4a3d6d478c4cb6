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


def train_either_way(model, loader, optimizer, accumulation_steps, rank):
    model = DDP(model, device_ids=[rank])
    for i, batch in enumerate(loader):
        if accumulation_steps > 1:
            (model(batch) / accumulation_steps).backward()  # expect: no-sync-accumulation
            if (i + 1) % accumulation_steps == 0:
                optimizer.step()
                optimizer.zero_grad()
        else:
            model(batch).backward()  # its step follows
            optimizer.step()
            optimizer.zero_grad()


def train_one_or_more(model, loader, optimizer, accumulation_steps, rank):
    model = DDP(model, device_ids=[rank])
    for i, batch in enumerate(loader):
        if accumulation_steps == 1:
            model(batch).backward()
        else:
            (model(batch) / accumulation_steps).backward()  # expect: no-sync-accumulation
        if (i + 1) % accumulation_steps == 0:
            optimizer.step()
            optimizer.zero_grad()
