import torch


class Whitening(torch.nn.Module):
    def forward(self, x):
        cov = x.T @ x / x.shape[0]
        chol = torch.linalg.cholesky(cov)  # expect: checked-linalg
        inverse = torch.linalg.inv(chol)  # expect: checked-linalg
        return x @ inverse


def train(model, data, opt):
    for batch in data:
        h = model(batch)
        solved = torch.linalg.solve(h, batch)  # expect: checked-linalg
        solved.mean().backward()
        opt.step()


class Shampoo(torch.optim.Optimizer):
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                values, vectors = torch.linalg.eigh(p.grad)  # expect: checked-linalg
                p.data.add_(vectors @ values.diag())


class Lift(torch.nn.Module):
    def geometry(self, poses):
        return torch.inverse(poses)  # expect: checked-linalg

    def forward(self, images, poses):
        return self.geometry(poses).matmul(images)


def show(model):
    print(model.geometry(torch.zeros(1, 3, 3)))  # on the host, once
