import numpy as np
import torch


class Whitening(torch.nn.Module):
    def __init__(self, cov):
        super().__init__()
        self.register_buffer("inverse", torch.linalg.inv(cov))

    def forward(self, x):
        factor, info = torch.linalg.cholesky_ex(x.T @ x)
        return x @ self.inverse @ torch.linalg.inv_ex(factor).inverse


def train(model, data, opt):
    for step, batch in enumerate(data):
        loss = model(batch).mean()
        loss.backward()
        opt.step()
        if step % 100 == 0:
            print(torch.linalg.eigh(model.weight)[0])
        norm = np.linalg.inv(np.eye(3))
    return norm


class InvConv(torch.nn.Module):
    def forward(self, z, reverse=False):
        if not reverse:
            weight = self.weight
        else:
            weight = torch.inverse(self.weight)  # for samples, when training is over
        return z @ weight


class Gaussian(torch.nn.Module):
    def forward(self, factor):
        return torch.cholesky_inverse(factor)  # cuSOLVER's answer is left on the device
