import torch


def train(model, loader, optimizer):
    seen = []
    for x, y in loader:
        out = model(x)
        loss = torch.nn.functional.mse_loss(out, y)
        loss.backward()
        optimizer.step()
        seen.append(out.detach().cpu())  # expect: device-to-host-in-step
        seen.extend(out.argmax(-1).tolist())  # expect: device-to-host-in-step
        seen.append(out.to("cpu"))  # expect: device-to-host-in-step


class Reporting(Algorithm):
    def train_step_gen(self, batch, batch_idx):
        loss = self.loss(batch)
        yield loss
        self.reporter.log(loss=loss.detach().cpu())  # expect: device-to-host-in-step

    def train_step_logs(self, outputs):
        return outputs[0]["samples"].tolist()  # expect: device-to-host-in-step
