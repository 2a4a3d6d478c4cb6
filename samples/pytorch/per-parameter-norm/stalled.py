"""Reads the norm of every parameter's gradient back, one by one."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import torch
from model import DEVICE, batches, build, loss_of

model, optimizer = build()
total = torch.zeros((), dtype=torch.float64, device=DEVICE)
for rows in batches(pin=True):
    rows = rows.to(DEVICE, non_blocking=True)
    loss = loss_of(model, rows)
    optimizer.zero_grad()
    loss.backward()
    squares = 0.0
    for parameter in model.parameters():
        squares += parameter.grad.norm().item() ** 2  # expect: per-parameter-norm
    scale = min(1.0, 1.0 / (squares ** 0.5 + 1e-6))
    for parameter in model.parameters():
        parameter.grad.mul_(scale)  # expect: per-tensor-optimizer-loop
    optimizer.step()
    total += loss.detach()
print(f"loss {total.item():.4f}")
