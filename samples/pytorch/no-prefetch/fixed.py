"""Has a thread load the next batch while the step runs."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import concurrent.futures

import torch
from model import DEVICE, batches, build, loss_of


def load(rows):
    """What a data set does to a batch before it can be used: here, counting its bytes in Python."""
    counts = [0] * 256
    for byte in rows.flatten().tolist():
        counts[byte] += 1
    return rows


def prefetched(source):
    """The loaded batches of `source`, each asked for while the one before it is used."""
    with concurrent.futures.ThreadPoolExecutor(1) as thread:
        waiting = None
        for rows in source:
            following = thread.submit(load, rows)
            if waiting is not None:
                yield waiting.result()
            waiting = following
        yield waiting.result()


model, optimizer = build()
total = torch.zeros((), dtype=torch.float64, device=DEVICE)
for rows in prefetched(batches(pin=True)):
    rows = rows.to(DEVICE, non_blocking=True)
    loss = loss_of(model, rows)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    total += loss.detach()
print(f"loss {total.item():.4f}")
