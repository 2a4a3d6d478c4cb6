import numpy as np
import torch

from kernels import attention


def save_gradients(path, q, k):
    q = torch.from_numpy(q).cuda().requires_grad_()
    k = torch.from_numpy(k).cuda().requires_grad_()
    out = attention(q, k)
    out.sum().backward()  # of the inputs, once: nothing is trained
    np.savez(path, out=out.detach().cpu().numpy(), q=q.grad.cpu().numpy(), k=k.grad.cpu().numpy())


if __name__ == "__main__":
    save_gradients("out.npz", np.ones((4, 8), np.float32), np.ones((4, 8), np.float32))
