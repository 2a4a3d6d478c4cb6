import torch


def training(fields, cameras, iterations, log):
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    for iteration in range(iterations):
        start.record()
        losses = [field.model(cameras[iteration]).mean() for field in fields]
        for loss in losses:
            loss.backward()
        torch.cuda.synchronize()  # expect: explicit-sync
        for field in fields:
            field.optimizer.step()
            field.optimizer.zero_grad(set_to_none=True)
        end.record()
        if iteration % 100 == 0:
            log(start.elapsed_time(end))


class Agent:
    def learn(self):
        self.steps += 1
        if self.steps % self.wait != 0:
            return
        loss = self.critic(self.memory.sample()).mean()
        self.optimizer.zero_grad()
        loss.backward()
        torch.cuda.synchronize()  # expect: explicit-sync
        self.optimizer.step()
