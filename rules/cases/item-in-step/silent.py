import logging
import warnings

import numpy as np
import torch

logger = logging.getLogger(__name__)


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


class RoundTrainer:
    def training_step(self, prompts):
        return self.fit_round(self.rank(prompts))

    def fit_round(self, loader):
        total = torch.zeros((), device=self.device)
        for batch in loader:
            loss = self.model(batch).mean()
            loss.backward()
            self.optimizer.step()
            total += loss.detach()
        return total.item()  # once a round, behind the loop that has the steps


class TrainMetrics(torch.nn.Module):
    def forward(self, predicted, wanted, log: bool):
        self.error(predicted, wanted)
        if log:
            return {"error": self.error.compute().item()}
        return {}


class SamplingMetrics(torch.nn.Module):
    def forward(self, molecules):
        return {"valid": self.valid(molecules).mean().item()}  # of what was sampled


class Score(torch.nn.Module):
    @torch.no_grad()
    def sample(self, n):
        x = self.prior(n)
        for t in range(self.steps):
            x = self.denoise(x, t)
            if self.net(x).norm().item() < 1e-3:
                break
        return x


class LastLogits(torch.nn.Module):
    def forward(self, x, past_key_values=None):
        if past_key_values is not None:
            x = x[:, past_key_values[0].length.max().item() :]  # one token after the other
        return self.head(x)


def train_on(model, optimizer, train_dataset):
    seen = 0
    for i in range(len(train_dataset)):
        image, wanted = train_dataset[i]
        model(image.cuda()).mean().backward()
        optimizer.step()
        seen += wanted.view(-1).sum().item()  # of what the host has read
    return seen


def reduced(x, how="mean", places=1):
    if how == "number":
        return x.sum().item()
    elif places == 3:
        return x.mean().item()
    return x.mean()


def train_reduced(model, loader, optimizer):
    for x, y in loader:
        loss = reduced(model(x, y)) + reduced(model(x, y), how="sum", places=2)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def train_now_and_then(model, loader, optimizer, share):
    for x in loader:
        penalised = torch.rand([]).item() < share  # drawn on the host
        model(x, penalised).mean().backward()
        optimizer.step()


def train_averaged(model, loader, optimizer):
    mean = None
    for x in loader:
        loss = model(x).mean()
        loss.backward()
        optimizer.step()
        if mean is None:
            mean = loss.item()  # of the first step
    return mean


class Packed(torch.nn.Module):
    def forward(self, x, mask):
        """Compiled, the length is a symbol; eager, nothing is read."""
        if torch.compiler.is_compiling():
            longest = mask.sum(-1).max().item()
        else:
            longest = mask.shape[-1]
        return x[:, :longest]


def train_step(model, train_loader, criterion, optimizer):
    for data, label in train_loader:
        loss = criterion(model(data), label)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def infer(model, test_loader, criterion, losses):
    model.eval()
    with torch.no_grad():
        for data, label in test_loader:
            loss = criterion(model(data), label)
            losses.append(loss)
    torch.stack(losses).mean().item()  # once an epoch: train_step() is one


def train_all(model, train_loader, test_loader, criterion, optimizer):
    for epoch in range(90):
        train_step(model, train_loader, criterion, optimizer)
        infer(model, test_loader, criterion, [])


def train_and_warn(model, loader, optimizer, longest):
    for x in loader:
        loss = model(x).mean()
        if x.shape[1] > longest:
            logger.warning(f"a batch of {x.shape[1]} has loss {loss.item()}")
            warnings.warn("shorten it: loss %f" % loss.item())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def tell_once(loss, step, told_at, done):
    if done or step != told_at:
        return
    print(loss.sqrt().item())


def train_and_tell_once(model, loader, optimizer, told_at):
    for step, x in enumerate(loader):
        loss = model(x).mean()
        loss.backward()
        optimizer.step()
        if step == told_at:
            print(loss.item())
        tell_once(loss, step, told_at, False)


class Classified(LightningModule):
    def validation_epoch_end(self, outputs):
        mean = torch.stack([out["val_loss"] for out in outputs]).mean()
        self.best = min(self.best, mean.item())
        return {"val_loss": mean}


def count_tokens(model, batches, optimizer):
    total = 0
    for batch in batches:
        loss = model(batch)
        loss.backward()
        optimizer.step()
        total += len(batch["tokens"])
        log(total)


def assert_close(x, y):
    """For cases; no step calls it."""
    difference = (x - y).abs().max().item()
    assert difference < 1e-4


class Scored:
    """Scores of a fitted detector, by the method that its training shares."""

    def forward_model(self, batch):
        noise = torch.randn_like(batch.x)
        generated = self.generator(noise)
        loss = self.discriminator(generated).mean()
        self.inner_optimizer.zero_grad()
        loss.backward()
        self.inner_optimizer.step()
        return self.discriminator(batch.x).mean()

    def decision_function(self, loader):
        total = 0.0
        for batch in loader:
            loss = self.forward_model(batch)
            total += loss.item()
        return total


def count_nonzero(x):
    return (x != 0).sum().item()


def benchmark_sparse_product(layer, x, rounds):
    """Gradients that are only timed."""
    for _ in range(rounds):
        out = layer(x) * count_nonzero(x)
        out.sum().backward()


class Penalised:
    """What is measured once a task."""

    def compute_fisher(self, loader):
        total = torch.zeros(1)
        for x, y in loader:
            self.net.zero_grad()
            loss = F.cross_entropy(self.net(x), y)
            loss.backward()
            total += self.squared_gradients(loss.item())
        return total


def train_and_tell_if_asked(model, loader, optimizer, perform_logging):
    for x in loader:
        loss = model(x).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if perform_logging:
            print(loss.item())


class Zeroth:
    def fit(self, model, loader, epochs):
        for epoch in range(epochs):
            for step, inputs in enumerate(loader):
                if epoch == 0 and step == 0:
                    self.measure_scales(model, inputs)
                elif step == 0 and self.again:
                    self.measure_scales(model, inputs)
                model(inputs).mean().backward()
                self.optimizer.step()

    def measure_scales(self, model, inputs):
        """Goes backward once an epoch."""
        loss = model(inputs).mean()
        loss.backward()
        self.scale = loss.item()


SHOWS_LOSS = False
SHOWS_LOSS_OF_ALL = False


def show_losses_of_all():
    global SHOWS_LOSS_OF_ALL
    SHOWS_LOSS_OF_ALL = True


def train_unshown(model, loader, optimizer):
    for x, y in loader:
        loss = model(x, y)
        loss.backward()
        optimizer.step()
        if SHOWS_LOSS:
            print(loss.item())


_save_requested = False


def train_until_asked(model, loader, optimizer, save):
    for x, y in loader:
        loss, figures = model(x, y)
        loss.backward()
        optimizer.step()
        if _save_requested:  # by a signal
            save(model, loss.item())
        if figures.viz_data is not None:
            draw(figures.viz_data, loss.item())


def train_and_report(model, loader, optimizer, config):
    for step, (x, y) in enumerate(loader):
        loss = model(x, y)
        loss.backward()
        optimizer.step()
        if step % (config.print_interval * config.accumulation_steps) == 0:
            print(loss.item())


def train_up_to(model, loader, optimizer, save, max_steps):
    for step, (x, y) in enumerate(loader):
        loss = model(x, y)
        loss.backward()
        optimizer.step()
        if max_steps is not None and step >= max_steps:
            save(model, loss.item())
            break


def profile_usage(model, batches):
    sums = []

    def hook(module, args):
        sums.append(module.router(args[0]).max(-1)[0].sum().item())  # what is tried out

    model.layers[0].register_forward_pre_hook(hook)
    for batch in batches:
        model(batch)
    return sums
