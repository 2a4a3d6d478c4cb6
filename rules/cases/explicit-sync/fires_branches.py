import torch
from torch import nn


class Net(nn.Module):
    """What its branches ask for is the same in each step."""

    def forward(self, x, mask):
        n = x.shape[1]
        if n % 8 == 0:
            torch.cuda.synchronize()  # expect: explicit-sync
        if self.chunk_size > 0:
            torch.cuda.synchronize()  # expect: explicit-sync
        if self.is_kernel_available(mask, *x.size()):
            torch.cuda.synchronize()  # expect: explicit-sync
        for i, layer in enumerate(self.layers):
            x = layer(x)
            last = i == len(self.layers) - 1
            if last:
                torch.cuda.synchronize()  # expect: explicit-sync
        for t in range(n):
            if t % 10 == 0:
                torch.cuda.synchronize()  # expect: explicit-sync
        return x

    def is_kernel_available(self, mask, b, heads, q, k):
        batches = b * heads
        if self.fuse and mask is not None:
            if batches % self.per_block(q) == 0:
                return True
        return False


class Adversarial(LightningModule):
    def training_step(self, batch, batch_idx, optimizer_idx):
        if optimizer_idx == 0:
            torch.cuda.synchronize()  # expect: explicit-sync
        return self.discriminator(batch).mean()


def train_one_step(args, engine, loader):
    for _ in range(args.grad_accum):
        loss = engine(next(loader))
        engine.backward(loss)
        engine.step()
    torch.cuda.synchronize()  # expect: explicit-sync
    return loss


def main(args, engine, loader):
    while True:
        train_one_step(args, engine, loader)
