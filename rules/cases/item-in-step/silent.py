import numpy as np
import torch


def train(model, loader, optimizer, writer, log_every):
    total = torch.zeros((), device="cuda")
    for step, (x, y) in enumerate(loader):
        loss = model(x, y)
        loss.backward()
        optimizer.step()
        total += loss.detach()
        if step % log_every == 0:
            writer.add_scalar("loss", loss.item(), step)
        do_print = (step + 1) % 50 == 0 and writer is not None
        if do_print:
            print(loss.item())
        for key, value in writer.stats.items():
            writer.add_scalar(key, value, step)
        scale = np.mean(writer.times).item()
        shift = torch.randint(0, 4, (1,)).item()
        writer.add_scalar("scale", scale + shift, step)
        if not torch.cuda.is_available():
            print(loss.item())
    return total.item() / len(loader)


def evaluate_all(model, loader):
    correct = torch.zeros((), device="cuda")
    for batch in loader:
        correct += (model(batch["x"]).argmax(1) == batch["y"]).sum()
    return summarise(correct)


def summarise(correct):
    return correct.item()  # once an evaluation


class BoxValidator:
    def match(self, found, wanted):
        for a, b in zip(torch.nonzero(found), torch.nonzero(wanted)):
            self.matched.add((a.item(), b.item()))  # scores what an evaluation collected


def log_rewards(rewards: torch.Tensor):
    print(rewards.mean().item())  # nobody is seen to call it: now and then


@torch.no_grad()
def generate_samples(model, ids):
    while True:
        ids = torch.cat([ids, model(ids).argmax(-1)])
        if ids[-1].item() == 0:
            return ids


def evaluate_scores(scores):
    for name, values in scores.items():
        print(name, values.item())  # whatever they are


class EdgeHead(torch.nn.Module):
    def forward(self, batch):
        pred = self.decode(batch)
        if not self.training:
            return pred, self.ranks_of(batch)
        return pred, None

    def ranks_of(self, batch):
        stats = {}
        for name, values in batch.ranks.items():
            stats[name] = values.mean().item()
        return stats


@torch.inference_mode()
def describe(model, image):
    return model(image).argmax().item()  # once for what is asked


class Searcher:
    def objective(self, trial):
        return self.evaluate(trial)

    def evaluate(self, trial):
        return self.fit(trial)

    def fit(self, loader):
        total = torch.zeros((), device=self.device)
        for batch in loader:
            loss = self.model(batch).mean()
            loss.backward()
            self.optimizer.step()
            total += loss.detach()
        return total.item()  # once, behind the loop
