import torch


def train(model, scaler, optimizer, get_batch, steps):
    x, y = get_batch("train")
    for _ in range(steps):
        _, loss = model(x, y)
        x, y = get_batch("train")  # while the device runs the forward pass
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad(set_to_none=True)
