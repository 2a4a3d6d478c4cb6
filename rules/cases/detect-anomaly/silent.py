import torch


def main(args, model, loader, optimizer):
    torch.autograd.set_detect_anomaly(False)
    if args.debug:
        torch.autograd.set_detect_anomaly(True)
    torch.autograd.set_detect_anomaly(args.detect_anomaly)
    for x in loader:
        model(x).backward()
        optimizer.step()


def find_cause(model, batch, optimizer):
    """The one batch whose loss was not finite, again."""
    loss = model(batch)
    if not torch.isfinite(loss):
        with torch.autograd.set_detect_anomaly(True):
            model(batch).backward()
        raise FloatingPointError("the loss is not finite")
    optimizer.zero_grad()


def fit(trainer_class, args, model, data):
    torch.autograd.set_detect_anomaly(mode=args.debug)
    trainer = trainer_class(max_epochs=args.epochs, detect_anomaly=False)
    trainer.fit(model, data)
    return trainer
