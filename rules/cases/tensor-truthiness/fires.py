import torch


def train(model, loader, optimizer):
    for x, y in loader:
        loss = model(x, y)
        if torch.isnan(loss):  # expect: tensor-truthiness
            continue
        loss.backward()
        if not torch.isfinite(loss).all():  # expect: tensor-truthiness
            raise RuntimeError("diverged")
        optimizer.step()


class Attend(torch.nn.Module):
    def forward(self, q, mask):
        empty = ~mask.any(dim=-1)
        if empty.any():  # expect: tensor-truthiness
            q = q.masked_fill(empty[..., None], 0.0)
        return q if q.abs().max() < 10 else q.clamp(-10, 10)  # expect: tensor-truthiness
