import jax
import grain
import grain.python as pygrain


def make_loader(source, sampler, operations, workers):
    return grain.DataLoader(
        data_source=source, sampler=sampler, operations=operations, worker_count=workers
    )


def make_other(source, sampler):
    return pygrain.DataLoader(data_source=source, sampler=sampler, worker_count=8)


class Pipeline:
    def __init__(self, source, sampler, config):
        self.loader = pygrain.DataLoader(
            data_source=source, worker_count=config.workers, sampler=sampler
        )
