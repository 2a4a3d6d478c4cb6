import torch


class Attend(torch.nn.Module):
    def forward(self, x, mask=None, causal=False):
        if mask is not None and x.shape[0] > 1:
            x = torch.where(mask, x, 0.0)
        if causal or self.training:
            x = x.tril()
        if x.requires_grad and torch.is_grad_enabled() and not torch.jit.is_scripting():
            x = x * 2
        if x.size(1) % 2 == 0 and len(x) > 4:
            x = x[:, ::2]
        return x
