"""Builds the causal mask again in every forward pass."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import torch
from model import CONTEXT, DEVICE, Transformer, batches, build, loss_of


class Rebuilding(Transformer):
    def forward(self, tokens):
        x = self.token(tokens) + self.place(self.places)
        for block in self.blocks:
            mask = torch.tril(torch.ones(CONTEXT, CONTEXT, device=tokens.device)).bool()  # expect: mask-recreated
            x = block(x, mask)
        return self.head(x)


model, optimizer = build(Rebuilding)
total = torch.zeros((), dtype=torch.float64, device=DEVICE)
for rows in batches(pin=True):
    rows = rows.to(DEVICE, non_blocking=True)
    loss = loss_of(model, rows)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    total += loss.detach()
print(f"loss {total.item():.4f}")
