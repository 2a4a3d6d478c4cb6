import torch


class Model(torch.nn.Module):
    def forward(self, x):
        noise = torch.randn(x.shape).to(x.device)  # expect: create-then-move
        position = torch.arange(x.size(1)).cuda()  # expect: create-then-move
        return x + noise + position
