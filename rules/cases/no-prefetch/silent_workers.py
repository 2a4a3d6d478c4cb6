from torch.utils.data import DataLoader


def train(model, dataset, optimizer, steps, workers):
    loader = DataLoader(dataset, batch_size=8, num_workers=workers)
    batches = iter(loader)
    for step in range(steps):
        batch = next(batches)  # a worker has it ready
        loss = model(batch)
        loss.backward()
        optimizer.step()
