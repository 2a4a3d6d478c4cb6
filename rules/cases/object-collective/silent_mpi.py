from mpi4py import MPI
import torch

comm = MPI.COMM_WORLD


def train(model, optimizer, loader, buffer):
    seed = comm.bcast(draw_seed(), root=0)  # once
    for step, (x, y) in enumerate(loader):
        loss = (model(x) - y).square().mean()
        loss.backward()
        optimizer.step()
        comm.Allreduce(MPI.IN_PLACE, buffer, op=MPI.SUM)
        if step % 100 == 0:
            every = comm.gather({"step": step}, root=0)
            keep(every, seed)
