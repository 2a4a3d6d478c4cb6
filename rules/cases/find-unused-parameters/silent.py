import torch
from torch.nn.parallel import DistributedDataParallel as DDP


def wrap(model, rank, args):
    model = DDP(model, device_ids=[rank])
    other = DDP(model, device_ids=[rank], find_unused_parameters=False)
    third = DDP(model, find_unused_parameters=args.find_unused)
    return model, other, third


class Strategy:
    """Parameters that some steps leave out are asked for by name of the model."""

    def setup(self, model, rank):
        unused = getattr(model, "has_unused_parameters", False)
        self.model = DDP(model, device_ids=[rank], find_unused_parameters=unused)
        return self.model


def wrap_static(model, rank):
    model = torch.nn.SyncBatchNorm.convert_sync_batchnorm(model)
    return DDP(model, device_ids=[rank], static_graph=True, gradient_as_bucket_view=True)


def wrap_recorded(model, rank):
    """A static graph is searched once."""
    return DDP(model, device_ids=[rank], find_unused_parameters=True, static_graph=True)


def fit(trainer_class, model, data):
    trainer = trainer_class(devices=8, strategy="ddp_find_unused_parameters_false")
    trainer.fit(model, data)


def choose(distributed):
    return "ddp" if distributed else "auto"
