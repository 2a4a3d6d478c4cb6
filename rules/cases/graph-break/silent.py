import torch


@torch.compile
def step(model, x):
    if x.dim() != 2:
        print("wrong shape", x.shape)
        raise ValueError(x.shape)
    return model(x)


def train(model, loader, optimizer):
    fast = torch.compile(model)
    for i, x in enumerate(loader):
        loss = fast(x)
        loss.backward()
        optimizer.step()
        if i % 100 == 0:
            print(i)
