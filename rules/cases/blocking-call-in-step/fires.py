import subprocess
import time

import requests
import torch


def gpu_memory():
    return subprocess.check_output(["nvidia-smi", "--query-gpu=memory.used"])  # expect: blocking-call-in-step


def report(url, step):
    requests.post(url, json={"step": step})  # expect: blocking-call-in-step


def train(model, loader, optimizer, url):
    for step, (x, y) in enumerate(loader):
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        report(url, step)
        gpu_memory()
        time.sleep(0.01)  # expect: blocking-call-in-step
