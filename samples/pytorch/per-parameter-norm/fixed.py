"""Takes all norms in one call and scales on the device."""
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
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0, foreach=True)
    optimizer.step()
    total += loss.detach()
print(f"loss {total.item():.4f}")
