import torch


def pick(x, keep):
    return x[keep]


def best(logits, target):
    valid = target.ge(0).nonzero(as_tuple=True)[0]  # places: counted where they are made
    mask = logits.argsort()[:4]
    return logits[valid].mean() + logits[mask].mean()


def train(model, loader, optimizer):
    model.cuda()
    for step, (x, y) in enumerate(loader):
        p = model(x.cuda(non_blocking=True))
        loss = pick(p, torch.randint(0, 4, (8,), device=p.device)).sum()
        loss = loss + best(p, y.cuda(non_blocking=True))
        loss.backward()
        optimizer.step()
