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
