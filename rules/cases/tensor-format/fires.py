import torch
from tqdm import tqdm


def train(model, loader, optimizer):
    bar = tqdm(loader)
    for x, y in bar:
        loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        bar.set_postfix(loss=loss)  # expect: tensor-format
        print("loss", loss)  # expect: tensor-format
        bar.set_description(f"loss {loss:.3f}")  # expect: tensor-format


def train_loud(model, loader, optimizer):
    for wave in loader:
        low = model(wave).min()
        print(f"[INFO] lowest value is {low}")  # expect: tensor-format
        low.backward()
        optimizer.step()


def train_logged(model, criterion, loader, optimizer, writer):
    for step, (x, y) in enumerate(loader):
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        writer.add_scalar("loss", loss, step)  # expect: tensor-format
        print(f"loss {loss}")  # expect: tensor-format
