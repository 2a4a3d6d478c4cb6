import os

os.environ["CUDA_LAUNCH_BLOCKING"] = "0"
os.environ["NCCL_DEBUG"] = "INFO"


def main(args):
    if args.debug:
        os.environ["CUDA_LAUNCH_BLOCKING"] = "1"
    return os.environ["CUDA_LAUNCH_BLOCKING"]


def restore(saved):
    """What the caller had set, whatever that was."""
    for name, value in saved.items():
        os.environ[name] = value
    os.environ.pop("CUDA_LAUNCH_BLOCKING", None)


def command_line(rank):
    environment = dict(os.environ, RANK=str(rank), NCCL_DEBUG="WARN")
    environment["TORCH_DISTRIBUTED_DEBUG"] = "OFF"
    if "CUDA_LAUNCH_BLOCKING" in environment:
        print("kernels are launched one by one")
    return environment


os.environ.setdefault("TORCH_DISTRIBUTED_DEBUG", "OFF")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.update({"CUDA_LAUNCH_BLOCKING": "0", "RANK": "1"})


def test_launches():
    os.environ.setdefault("CUDA_LAUNCH_BLOCKING", "1")
    os.putenv("NCCL_DEBUG", "TRACE")
