import torch


class Net(torch.nn.Module):
    def train_step(self, dataloader, optimizer):
        for batch in dataloader:
            self(batch).mean().backward()
            optimizer.step()
            optimizer.zero_grad()
        torch.cuda.synchronize()  # once a round


def look_for_bad(module, rounds, device):
    with torch.inference_mode():
        for samples in rounds:
            batch = module.transfer_batch_to_device(samples, device, 0)
            torch.cuda.synchronize()  # nothing is trained
            print(module(batch).argmax(-1))


if __name__ == "__main__":
    look_for_bad(Net(), [], "cuda")
