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


def train_gpt(model, batches, optimizer, micro_steps, rank):
    """The flag that no_sync sets, set by hand."""
    model = DDP(model, device_ids=[rank])
    while True:
        for micro_step in range(micro_steps):
            model.require_backward_grad_sync = micro_step == micro_steps - 1
            loss = model(next(batches)) / micro_steps
            loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)


def train_alone(model, loader, optimizer, accumulation_steps):
    """One process: nothing is reduced."""
    for i, batch in enumerate(loader):
        (model(batch) / accumulation_steps).backward()
        if (i + 1) % accumulation_steps == 0:
            optimizer.step()
            optimizer.zero_grad()


def reduction(model, last):
    return contextlib.nullcontext() if last else model.no_sync()


def train_helped(model, batches, optimizer, accumulation_steps, rank):
    model = DDP(model, device_ids=[rank])
    for _ in range(100):
        for micro in range(accumulation_steps):
            with reduction(model, micro == accumulation_steps - 1):
                model(next(batches)).backward()
        optimizer.step()


def train_each(model, batches, optimizer, scheduler, micro_batches, rank):
    """An update for each micro-batch."""
    model = DDP(model, device_ids=[rank])
    for _ in range(100):
        for micro in range(micro_batches):
            optimizer.zero_grad()
            model(next(batches)).backward()
            optimizer.step()
        scheduler.step()


def train_with_context(model, batches, optimizer, accumulation_steps, rank):
    model = DDP(model, device_ids=[rank])
    for _ in range(100):
        for micro in range(accumulation_steps):
            with get_sync_ctx(model, micro == accumulation_steps - 1):  # of another file
                model(next(batches)).backward()
        optimizer.step()


@partial(jax.pmap, axis_name="devices")
def train_step(params, batch):
    loss, grads = jax.value_and_grad(loss_fn)(params, batch)
    grads = jax.lax.pmean(grads, axis_name="devices")  # of the whole step
    return update(params, grads), loss
