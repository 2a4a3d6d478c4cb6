import time

import torch


@torch.compile
def step(model, x):
    print(x.shape)  # expect: graph-break
    start = time.time()  # expect: graph-break
    y = model(x)
    torch._dynamo.graph_break()  # expect: graph-break
    return y, start


class Block(torch.nn.Module):
    """Compiled with what was printed to understand it."""

    @torch.compile
    def forward(self, x):
        y = self.attention(x)
        print("after attention", y.shape)  # expect: graph-break
        return x + y


@torch.compile(mode="reduce-overhead")
def loss_fn(logits, target):
    begin = time.perf_counter()  # expect: graph-break
    loss = torch.nn.functional.cross_entropy(logits, target)
    return loss, begin
