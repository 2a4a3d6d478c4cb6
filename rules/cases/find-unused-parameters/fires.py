import pytorch_lightning as pl
import torch
from accelerate import DistributedDataParallelKwargs
from torch.nn.parallel import DistributedDataParallel as DDP


def wrap(model, rank):
    model = DDP(model, device_ids=[rank], find_unused_parameters=True)  # expect: find-unused-parameters
    return model


def wrap_again(model, rank):
    return torch.nn.parallel.DistributedDataParallel(model, device_ids=[rank], find_unused_parameters=True)  # expect: find-unused-parameters


kwargs = DistributedDataParallelKwargs(find_unused_parameters=True)  # expect: find-unused-parameters


def tune(model, RayDDPStrategy):
    return lightning.Trainer(strategy=RayDDPStrategy(find_unused_parameters=True))  # expect: find-unused-parameters


def fit(model, data):
    trainer = pl.Trainer(devices=8, strategy="ddp_find_unused_parameters_true")  # expect: find-unused-parameters
    trainer.fit(model, data)


class Reader(pl.LightningModule):
    def configure_ddp(self, model, device_ids):
        return LightningDistributedDataParallel(  # expect: find-unused-parameters
            model, device_ids=device_ids, find_unused_parameters=True
        )


def choose(distributed):
    strategy = "auto"
    if distributed:
        strategy = "ddp_find_unused_parameters_true"  # expect: find-unused-parameters
    return strategy


def wrap(model, rank):
    find_unused_parameters = True  # expect: find-unused-parameters
    return torch.nn.parallel.DistributedDataParallel(
        model, device_ids=[rank], find_unused_parameters=find_unused_parameters
    )
