from torch.nn.parallel import DistributedDataParallel


def build(model, rank):
    return DistributedDataParallel(model, device_ids=[rank])
