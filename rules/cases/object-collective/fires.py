import detectron2.utils.comm as comm
import torch
import torch.distributed as dist


def log_losses(loss):
    gathered = [None] * dist.get_world_size()
    dist.all_gather_object(gathered, {"loss": loss.detach()})  # expect: object-collective
    return gathered


def train(model, loader, optimizer):
    for batch in loader:
        loss = model(batch)
        loss.backward()
        optimizer.step()
        log_losses(loss)
        sizes = [len(batch)]
        dist.broadcast_object_list(sizes, src=0)  # expect: object-collective


class Trainer:
    def training_step(self, batch):
        out = [None] if dist.get_rank() == 0 else None
        dist.gather_object({"n": len(batch)}, out)  # expect: object-collective
        return self.model(batch)


class Detector(SimpleTrainer):
    def run_step(self):
        losses = self.model(next(self._data_loader_iter))
        sum(losses.values()).backward()
        comm.gather({name: float(loss) for name, loss in losses.items()})  # expect: object-collective
        self.optimizer.step()
