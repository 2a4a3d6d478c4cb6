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
