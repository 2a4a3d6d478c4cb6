import time

import torch


def train(model, loader, optimizer):
    start_time = time.time()
    seen = 0
    for x in loader:
        model(x).backward()
        optimizer.step()
        seen += len(x)
        speed = seen / (time.time() - start_time)  # expect: cumulative-speed-log
        rate = (seen * 2) / (time.time() - start_time)  # expect: cumulative-speed-log
    return speed, rate


class Trainer:
    def fit(self, loader):
        self.start_time = time.time()
        for x in loader:
            self.model(x).backward()
            self.optimizer.step()
            self.speed = self.tokens / (time.time() - self.start_time)  # expect: cumulative-speed-log


def pretrain(model, batches, optimizer, args):
    start = time.time()
    tokens = 0
    for step, batch in enumerate(batches):
        loss = model(batch).mean()
        loss.backward()
        optimizer.step()
        tokens += args.batch_size * args.sequence_length
        if step % 10 == 0:
            print(f"step {step}: {tokens / (time.time() - start):.0f} tokens a second")  # expect: cumulative-speed-log
