import torch


def fit(model, loader, optimizer):
    for x in loader:
        loss = model(x.cuda(non_blocking=True)).sum()
        loss.backward()
        optimizer.step()
        yield {"loss": loss}


def train(model, loader, optimizer, seen):
    for losses in fit(model, loader, optimizer):
        torch.cuda.synchronize()  # expect: explicit-sync
        seen.append(losses)


class Learner:
    def steps(self, loader):
        for x in loader:
            loss = self.model(x.cuda(non_blocking=True)).sum()
            loss.backward()
            self.optimizer.step()
            if loss.requires_grad:
                yield loss


def follow(learner: Learner, loader):
    for _ in learner.steps(loader):
        torch.cuda.synchronize()  # expect: explicit-sync
