import torch
import wandb
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


def train_with_history(model, criterion, loader, optimizer, history):
    for x, y in loader:
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        history.write(str(loss))  # expect: tensor-format


class Engine:
    def fit(self, loader, bar):
        for batch in loader:
            loss, size = self.one_step(batch)
            bar.set_postfix({"loss": f"{loss:.4f}", "size": size})  # expect: tensor-format

    def one_step(self, batch):
        loss = self.criterion(self.model(batch)).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss, batch.shape[0]


def train_recorded(model, criterion, loader, optimizer):
    for x, y in loader:
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        wandb.log(dict(loss=loss))  # expect: tensor-format
        record = {"loss": loss, "rate": 0.1}
        wandb.log(record)  # expect: tensor-format


def train_drawn(model, loader, optimizer, writer):
    for step, x in enumerate(loader):
        loss = model(x).mean()
        loss.backward()
        writer.add_histogram("loss", loss, step)  # expect: tensor-format
        optimizer.step()


def fit_spectra(model, loader, optimizer, writer):
    for step, (text, spectrum) in enumerate(loader):
        spectrum = spectrum.cuda()
        before, after = model(text, spectrum)
        spectrum_loss = torch.nn.L1Loss()(before, spectrum)
        after_loss = criterion(after, spectrum)
        loss = spectrum_loss + after_loss
        writer.add_scalars("losses", {
            "before": spectrum_loss,  # expect: tensor-format
            "after": after_loss,  # expect: tensor-format
        }, step)
        loss.backward()
        optimizer.step()


def train_in_run(model, loader, optimizer):
    run = wandb.init()
    for x in loader:
        loss = model(x).mean()
        loss.backward()
        optimizer.step()
        run.log({"loss": loss})  # expect: tensor-format
