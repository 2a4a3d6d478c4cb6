import torch.distributed as dist


def broadcast_config(config):
    box = [config]
    dist.broadcast_object_list(box, src=0)
    return box[0]


def train(model, loader, optimizer, config):
    config = broadcast_config(config)
    for step, batch in enumerate(loader):
        loss = model(batch)
        loss.backward()
        optimizer.step()
        if step % config.log_every == 0:
            seen = [None] * dist.get_world_size()
            dist.all_gather_object(seen, loss.item())
        dist.all_reduce(loss)


def evaluate(model, loader):
    """Texts of the whole evaluation, gathered once at its end."""
    texts = []
    for batch in loader:
        texts.extend(model.generate(batch))
    gathered = [None] * dist.get_world_size()
    dist.all_gather_object(gathered, texts)
    return [text for part in gathered for text in part]
