import contextlib

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


def train_micro_batches(model, batches, optimizer, grad_accum_steps, steps, rank):
    model = DDP(model, device_ids=[rank])
    for _ in range(steps):
        for micro in range(grad_accum_steps):
            loss = model(next(batches)) / grad_accum_steps
            loss.backward()  # expect: no-sync-accumulation
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)


def train_large(model, batches, optimizer, grad_accum_steps, rank):
    """What another function does about it is of no use here."""
    model = DDP(model, device_ids=[rank])
    for batch in batches:
        last = last_of(batch, grad_accum_steps)
        with contextlib.nullcontext() if last else model.no_sync():
            (model(batch) / grad_accum_steps).backward()
        if last:
            optimizer.step()


@partial(jax.pmap, axis_name="devices")
def accumulate(params, batches):
    total = None
    for batch in batches:
        loss, grads = jax.value_and_grad(loss_fn)(params, batch)
        grads = jax.lax.pmean(grads, axis_name="devices")  # expect: no-sync-accumulation
        total = grads if total is None else add(total, grads)
    return total
