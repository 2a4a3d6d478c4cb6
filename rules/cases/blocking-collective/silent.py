import torch
import torch.distributed as dist


class Overlapped(torch.nn.Module):
    def forward(self, x):
        y = x @ self.weight
        work = dist.all_reduce(y, async_op=True)
        z = self.other(x)
        work.wait()
        return y + z


def train(model, loader, optimizer):
    for step, x in enumerate(loader):
        loss = model(x)
        loss.backward()
        optimizer.step()
        if step % 100 == 0:
            dist.all_reduce(loss)


def setup(seed):
    dist.all_reduce(seed)


class CrossEntropyOverShards(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits, group):
        sums = logits.exp().sum(-1)
        dist.all_reduce(sums, group=group)
        return sums.log()

    @staticmethod
    def backward(ctx, gradient):
        dist.all_reduce(gradient, group=ctx.group)
        return gradient, None
