import time

import torch


def train(model, loader, optimizer):
    begin = time.time()
    last = begin
    for x in loader:
        model(x).backward()
        optimizer.step()
        now = time.time()
        speed = len(x) / (now - last)
        last = now
    average = 100 / (time.time() - begin)
    return speed, average


def bench(fn, n):
    start = time.time()
    for _ in range(n):
        fn()
    return n / (time.time() - start)


class Meter:
    """The window is closed at every report: the speed is that of its steps."""

    def __init__(self):
        self.window_start = time.perf_counter()
        self.samples = 0

    def training_step(self, batch):
        self.samples += len(batch)
        if self.samples >= 4096:
            now = time.perf_counter()
            print(self.samples / (now - self.window_start))
            self.window_start, self.samples = now, 0
        return self.model(batch).mean()
