import time

import torch
from torch import cuda


def train(model, loader, optimizer):
    for x, y in loader:
        loss = model(x, y)
        loss.backward()
        torch.cuda.synchronize()  # expect: explicit-sync
        optimizer.step()
        cuda.synchronize()  # expect: explicit-sync
        stream = torch.cuda.current_stream()
        stream.synchronize()  # expect: explicit-sync


def device_synchronize():
    torch.cuda.synchronize()


def train_with_helper(model, loader, optimizer):
    for batch in loader:
        device_synchronize()  # expect: explicit-sync
        loss = model(batch).mean()
        loss.backward()
        optimizer.step()


class DistributedGroupedDataParallel(nn.Module):
    def __init__(self, module, group):
        super().__init__()
        self.module = module

        def allreduce_params(scale=True):
            for p in self.module.parameters():
                torch.distributed.all_reduce(p.grad, group=group)
                torch.cuda.synchronize()  # expect: explicit-sync

        self.allreduce_params = allreduce_params


def train_step(forward_backward, optimizer, timers):
    """Called in a loop of another file."""
    losses = forward_backward()
    losses.mean().backward()
    torch.distributed.barrier()  # expect: explicit-sync
    timers("optimizer").start()
    optimizer.step()


def pretrain(forward_backward, optimizer, timers, iterations):
    for _ in range(iterations):
        train_step(forward_backward, optimizer, timers)


def train_together(model, loader, optimizer):
    for x in loader:
        model(x).backward()
        optimizer.step()
        torch.distributed.barrier()  # expect: explicit-sync


class StepTimer:
    def tick(self):
        torch.cuda.synchronize()  # expect: explicit-sync
        self.at = time.perf_counter()


def train_timed(model, loader, optimizer):
    timer = StepTimer()
    for x in loader:
        model(x).mean().backward()
        optimizer.step()
        timer.tick()


class Reporter:
    def profile_step(self, model, batch, optimizer):
        """A method that training calls: whatever it is called, each step waits."""
        model(batch).sum().backward()
        torch.cuda.synchronize()  # expect: explicit-sync
        optimizer.step()


def train_and_measure(model, loader, optimizer, start, end):
    times = []
    for batch in loader:
        start.record()
        model(batch).mean().backward()
        optimizer.step()
        end.record()
        torch.cuda.synchronize()  # expect: explicit-sync
        times.append(start.elapsed_time(end))
    return times


class SplitEmbedding(torch.nn.Module):
    def forward(self, tokens):
        out = torch.nn.functional.embedding(tokens, self.weight)
        torch.distributed.barrier()  # expect: explicit-sync
        return gathered(out)


class GradientSum:
    """An optimizer around another: the ranks meet once in each step anyway."""

    def step(self, loss):
        self.optimizer.zero_grad()
        loss.backward()
        self.sum_gradients()
        self.optimizer.step()

    def sum_gradients(self):
        self.buffer[:] = torch.nn.utils.parameters_to_vector(self.grads)
        torch.distributed.all_reduce(self.buffer)
        torch.distributed.barrier()  # expect: explicit-sync


class Rotated(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, mesh):
        torch.distributed.barrier(group=mesh.get_group(1))  # expect: explicit-sync
        return x


def meet():
    torch.distributed.barrier()  # expect: explicit-sync


def train_and_meet(model, loader, optimizer):
    for x in loader:
        meet()
        model(x).backward()
        optimizer.step()
