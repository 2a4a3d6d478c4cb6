"""Reduces each parameter's gradient in a collective of its own."""
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import torch
import torch.distributed as dist
from model import DEVICE, batches, build, loss_of

# One rank, or as many as a launcher starts.
ranks = {} if "RANK" in os.environ else {"store": dist.HashStore(), "rank": 0, "world_size": 1}
dist.init_process_group("nccl" if DEVICE.type == "cuda" else "gloo", **ranks)
model, optimizer = build()
total = torch.zeros((), dtype=torch.float64, device=DEVICE)
for rows in batches(pin=True):
    rows = rows.to(DEVICE, non_blocking=True)
    loss = loss_of(model, rows)
    optimizer.zero_grad()
    loss.backward()
    for parameter in model.parameters():
        dist.all_reduce(parameter.grad)  # expect: many-small-collectives
    optimizer.step()
    total += loss.detach()
print(f"loss {total.item():.4f}")
dist.destroy_process_group()
