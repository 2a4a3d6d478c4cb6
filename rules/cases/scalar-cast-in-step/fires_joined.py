import torch


def overlap(output, target, classes):
    found, out = output.argmax(1), []
    for c in range(classes):
        inter = ((found == c) & (target == c)).sum()
        union = ((found == c) | (target == c)).sum()
        out.append(float(inter))  # expect: scalar-cast-in-step
        out.append(float(union))  # expect: scalar-cast-in-step
    return out


def train(model, loader, optimizer, scores):
    model.cuda()
    for x, y in loader:
        p = model(x.cuda(non_blocking=True))
        loss = criterion(p, y.cuda(non_blocking=True))
        loss.backward()
        optimizer.step()
        scores.append(overlap(p, y, 3))
