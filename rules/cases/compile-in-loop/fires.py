import torch


def train(model, loader, optimizer):
    for batch in loader:
        fast = torch.compile(model)  # expect: compile-in-loop
        loss = fast(batch)
        loss.backward()
        optimizer.step()


class Trainer:
    def training_step(self, batch):
        scripted = torch.jit.script(self.model)  # expect: compile-in-loop
        return scripted(batch)


class Head(torch.nn.Module):
    def apply_head(self, x):
        return torch.compile(self.inner)(x)  # expect: compile-in-loop

    def forward(self, x):
        return self.apply_head(x)
