"""Reads the loss back every step: the host waits for the whole step each time."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from model import DEVICE, batches, build, loss_of

model, optimizer = build()
total = 0.0
for rows in batches(pin=True):
    rows = rows.to(DEVICE, non_blocking=True)
    loss = loss_of(model, rows)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    total += loss.item()  # expect: item-in-step
print(f"loss {total:.4f}")
