import gc
import torch


def train(model, loader, optimizer, epochs):
    gc.disable()
    for epoch in range(epochs):
        for step, (x, y) in enumerate(loader):
            model(x, y).backward()
            optimizer.step()
            if step % 500 == 0:
                gc.collect()
        gc.collect()
