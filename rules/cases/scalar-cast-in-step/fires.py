import torch


def train(model, criterion, batches, optimizer):
    history = []
    for x, y in batches:
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        history.append(float(loss))  # expect: scalar-cast-in-step
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        history.append(float(norm))  # expect: scalar-cast-in-step


def optimize(losses, opt):
    for step in range(10):
        loss = losses.compute(step)
        opt.zero_grad()
        loss.backward()
        opt.step()
        best = float(loss.detach())  # expect: scalar-cast-in-step
    return best
