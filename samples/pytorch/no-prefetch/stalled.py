"""Loads each batch only when the step asks for it."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import torch
from model import DEVICE, STEPS, batches, build, loss_of
from torch.utils.data import DataLoader


def load(rows):
    """What a data set does to a batch before it can be used: here, counting its bytes in Python."""
    counts = [0] * 256
    for byte in rows.flatten().tolist():
        counts[byte] += 1
    return rows


model, optimizer = build()
loader = iter(DataLoader(list(batches(pin=True)), batch_size=None, collate_fn=load))  # expect: loader-no-workers
total = torch.zeros((), dtype=torch.float64, device=DEVICE)
for _ in range(STEPS):
    rows = next(loader)  # expect: no-prefetch
    rows = rows.to(DEVICE, non_blocking=True)
    loss = loss_of(model, rows)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    total += loss.detach()
print(f"loss {total.item():.4f}")
