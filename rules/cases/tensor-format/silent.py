import torch


def train(model, loader, optimizer, log_interval):
    for step, (x, y) in enumerate(loader):
        loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        if step % log_interval != 0:
            continue
        print(f"step {step} loss {loss:.3f}")


def describe(model, step):
    print(f"{step}: {sum(p.numel() for p in model.parameters())} parameters")


def train_checked(model, loader, optimizer):
    for batch in loader:
        loss = model(batch).mean()
        if torch.isnan(loss):
            print(f"loss is {loss}")
        loss.backward()
        optimizer.step()


def train_waves(model, loader, optimizer):
    for wave in loader:
        low = model(wave).min()
        if too_low(wave):
            print(f"[WARNING] lowest value is {low}")
        low.backward()
        optimizer.step()


def train_seldom_logged(model, criterion, loader, optimizer, writer):
    for step, (x, y) in enumerate(loader):
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        writer.add_scalar("rate", optimizer.param_groups[0]["lr"], step)
        if step % 100 == 0:
            writer.add_scalar("loss", loss, step)


def train_logged_as_numbers(model, criterion, loader, optimizer, writer, several):
    for step, (x, y) in enumerate(loader):
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        if several:
            loss = loss.item()
        else:
            loss = loss.item()
        writer.add_scalar("loss", loss, step)


def train_with_names(model, criterion, loader, optimizer, history):
    for step, (x, y) in enumerate(loader):
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        history.write(str(step) + str(x.shape) + repr(loss.dtype))


class Engine:
    def fit(self, loader, bar):
        for batch in loader:
            loss, size = self.one_step(batch)
            bar.set_postfix({"loss": f"{loss:.4f}", "size": f"{size}"})

    def one_step(self, batch):
        loss = self.criterion(self.model(batch)).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item(), batch.shape[0]


def train_checked(model, criterion, loader, optimizer, check):
    for batch in next_batches(loader):
        for name, part in sorted(batch.items()):
            check(part, message=f"{name} differs")
        loss = criterion(model(batch))
        loss.backward()
        optimizer.step()


def next_batches(loader):
    for batch in loader:
        yield {name: part.cuda(non_blocking=True) for name, part in batch.items()}


def fit_angles(render, target):
    angles = torch.tensor([0.1, -0.1, 0.1], requires_grad=True)
    optimizer = torch.optim.Adam([angles])
    for step in range(200):
        loss = (render(angles) - target).pow(2).sum()
        loss.backward()
        print("angles", angles, angles.grad)  # on the host
        optimizer.step()


def train_recorded(model, criterion, loader, optimizer):
    for at, (x, y) in enumerate(loader):
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        record = {"step": at, "rate": optimizer.param_groups[0]["lr"]}
        wandb.log(record)
        kept = {"loss": loss}
        if at % 50 == 0:
            wandb.log(kept)


class Runner:
    """Sums up on the device, reads it at an interval."""

    def train_pass(self, batch):
        loss = self.network(batch.cuda()).mean()
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
        self.optimizer.step()
        self.integrator.add_scalar("norm", norm)
