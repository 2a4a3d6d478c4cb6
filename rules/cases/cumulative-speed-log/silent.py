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
