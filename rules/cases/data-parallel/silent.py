import torch
from torch.nn.parallel import DistributedDataParallel as DDP


def build(model, rank):
    model = DDP(model, device_ids=[rank])
    if isinstance(model, torch.nn.DataParallel):
        model = model.module
    return model


def unwrap(model):
    return model.module if hasattr(model, "module") else model


def load_weights(model, path):
    """Of a run that was wrapped: only its names are."""
    state = torch.load(path, map_location="cpu")
    state = {name.removeprefix("module."): value for name, value in state.items()}
    model.load_state_dict(state)
    return model


def build_sharded(model, device_ids):
    from torch.distributed.fsdp import FullyShardedDataParallel

    if len(device_ids) > 1:
        model = FullyShardedDataParallel(model, device_id=device_ids[0])
    return model


def evaluate(model, loader):
    """A few batches, once a round: nobody starts processes for them."""
    model = torch.nn.DataParallel(model)
    model.eval()
    with torch.no_grad():
        return sum(model(x).argmax(-1).eq(y).sum() for x, y in loader)


class Finetuned(torch.nn.Module):
    def __init__(self, pretrained, path):
        super().__init__()
        whole = torch.nn.DataParallel(pretrained)  # its checkpoint has the wrapper's names
        whole.load_state_dict(torch.load(path), strict=False)
        self.body = whole.module.body
