import time
import torch


def train(model, criterion, batches, optimizer, args):
    start = time.time()
    for step, (x, y) in enumerate(batches):
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        lr = float(args.lr)
        size = int(x.shape[0] * 2)
        elapsed = float(time.time() - start)
        if step % 10 == 0:
            print(float(loss), lr, size, elapsed)
    return float(loss)
