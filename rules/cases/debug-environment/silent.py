import os

os.environ["CUDA_LAUNCH_BLOCKING"] = "0"
os.environ["NCCL_DEBUG"] = "INFO"


def main(args):
    if args.debug:
        os.environ["CUDA_LAUNCH_BLOCKING"] = "1"
    return os.environ["CUDA_LAUNCH_BLOCKING"]
