from mpi4py import MPI
import torch

comm = MPI.COMM_WORLD


def train(model, optimizer, loader):
    for x, y in loader:
        loss = (model(x) - y).square().mean()
        loss.backward()
        optimizer.step()
        metrics = {"loss": loss.detach()}
        every = comm.allgather(metrics)  # expect: object-collective
        names = comm.bcast(sorted(metrics), root=0)  # expect: object-collective
        total = comm.allreduce(metrics, op=MPI.SUM)  # expect: object-collective
        keep(every, names, total)
