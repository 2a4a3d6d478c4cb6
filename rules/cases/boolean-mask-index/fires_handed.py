import torch


def pick(x, keep):
    return x[keep]  # expect: boolean-mask-index


def mean_of(values, chosen):
    return values[chosen].mean()  # expect: boolean-mask-index


def train(model, loader, optimizer):
    model.cuda()
    for x, y in loader:
        p = model(x.cuda(non_blocking=True))
        y = y.cuda(non_blocking=True)
        loss = pick(p, p > 0).sum() + mean_of(p, torch.isfinite(y) & (y > 0))
        loss.backward()
        optimizer.step()
