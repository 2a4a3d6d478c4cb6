import torch


@torch.no_grad()
def update_ema(averages, params, decay):
    for a, p in zip(averages, params):
        a.mul_(decay).add_(p, alpha=1 - decay)  # expect: per-tensor-optimizer-loop


class EMA:
    def step(self, parameters):
        for s_param, param in zip(self.shadow_params, parameters):
            s_param.sub_((1 - self.decay) * (s_param - param))  # expect: per-tensor-optimizer-loop


def train(model, ema_params, loader):
    optimizer = torch.optim.Adam(model.parameters(), foreach=False)  # expect: per-tensor-optimizer-loop
    for x in loader:
        model(x).backward()
        optimizer.step()
        update_ema(ema_params, model.parameters(), 0.999)
