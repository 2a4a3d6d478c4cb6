import torch
import torch.distributed as dist


class TensorParallelLinear(torch.nn.Module):
    def forward(self, x):
        y = x @ self.weight
        dist.all_reduce(y)  # expect: blocking-collective
        return y


class Gathered(torch.nn.Module):
    def forward(self, x):
        out = x.new_empty(x.shape[0] * 8, x.shape[1])
        dist.all_gather_into_tensor(out, x)  # expect: blocking-collective
        part = torch.empty_like(x)
        dist.reduce_scatter_tensor(part, out, async_op=False)  # expect: blocking-collective
        return part


class ExpertLayer(torch.nn.Module):
    """Tokens go to their experts and come back, and nothing runs meanwhile."""

    def forward(self, tokens):
        sent = self.router(tokens)
        received = torch.empty_like(sent)
        dist.all_to_all_single(received, sent, group=self.group)  # expect: blocking-collective
        return self.expert(received)
