import time

import torch


@torch.compile
def step(model, x):
    print(x.shape)  # expect: graph-break
    start = time.time()  # expect: graph-break
    y = model(x)
    torch._dynamo.graph_break()  # expect: graph-break
    return y, start
