import jax
import grain
import grain.python as pygrain


def make_loader(source, sampler, operations):
    return grain.DataLoader(data_source=source, sampler=sampler, operations=operations)  # expect: loader-no-workers


def make_other(source, sampler):
    return pygrain.DataLoader(data_source=source, sampler=sampler, worker_count=0)  # expect: loader-no-workers


class Pipeline:
    def __init__(self, source, sampler, operations):
        self.loader = pygrain.DataLoader(  # expect: loader-no-workers
            data_source=source, operations=operations, sampler=sampler
        )
