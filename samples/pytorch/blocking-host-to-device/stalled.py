"""Copies each batch from pageable memory: the host waits until the copy is staged."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import torch
from model import DEVICE, batches, build, loss_of

model, optimizer = build()
total = torch.zeros((), dtype=torch.float64, device=DEVICE)
for rows in batches():
    rows = rows.to(DEVICE)  # expect: blocking-host-to-device
    loss = loss_of(model, rows)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    total += loss.detach()
print(f"loss {total.item():.4f}")
