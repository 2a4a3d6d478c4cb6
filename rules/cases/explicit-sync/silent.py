import torch


def train(model, loader, optimizer, args):
    torch.cuda.synchronize()
    for step, (x, y) in enumerate(loader):
        loss = model(x, y)
        loss.backward()
        optimizer.step()
        if step % args.log_interval == 0:
            torch.cuda.synchronize()
        if args.debug:
            torch.cuda.synchronize()
    torch.cuda.synchronize()
