import torch


def train(model, loader, optimizer, args):
    torch.cuda.synchronize()
    for step, (x, y) in enumerate(loader):
        loss = model(x, y)
        loss.backward()
        optimizer.step()
        if step % args.log_interval == 0:
            torch.cuda.synchronize()
        if args.debug:
            torch.cuda.synchronize()
    torch.cuda.synchronize()


def wait_all():
    torch.cuda.synchronize()


def train_timed(model, loader, optimizer, args):
    for step, batch in enumerate(loader):
        loss = model(batch).mean()
        loss.backward()
        optimizer.step()
        if step % 100 == 0:
            wait_all()
        if args.time_optimizer:
            torch.cuda.synchronize()


class PrintTime(torch.nn.Module):
    def forward(self, x):
        torch.cuda.synchronize()
        print(time.time())
        return x


def train_apart(model, loader, optimizer, epochs, save):
    for epoch in range(epochs):
        for step, x in enumerate(loader):
            model(x).backward()
            optimizer.step()
            if step % 1000 == 0:
                save(model)
                torch.distributed.barrier()
        torch.distributed.barrier()


def train_on_many(model, loader, optimizers):
    for x in loader:
        model(x).backward()
        for optimizer in optimizers.values():
            optimizer.synchronize()  # Horovod's: the gradients of all
            with optimizer.skip_synchronize():
                optimizer.step()


def profile_attention(attend, q, k, v, repeats):
    """Times a kernel."""
    for _ in range(repeats):
        attend(q, k, v)
    torch.cuda.synchronize()
    start = time.time()
    for _ in range(repeats):
        attend(q, k, v)
        torch.cuda.synchronize()
    return (time.time() - start) / repeats


def measure_speed(model, batch, repeats):
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    times = []
    for _ in range(repeats):
        start.record()
        model(batch)
        end.record()
        torch.cuda.synchronize()  # of what is measured
        times.append(start.elapsed_time(end))
    return times


class RotatedOnHost(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, gloo_group):
        torch.distributed.barrier(group=gloo_group)
        return x
