import torch


def build_targets(p, targets, anchors, device):
    gain = torch.ones(7, device=device)
    off = torch.zeros(5, 2, device=device)
    for i in range(3):
        t = targets * gain
        ratio = t[..., 4:6] / anchors[i]
        j = torch.max(ratio, 1 / ratio).max(2)[0] < 4.0
        t = t[j]  # expect: boolean-mask-index
        gxy = t[:, 2:4]
        j, k = ((gxy % 1 < 0.5) & (gxy > 1)).T
        j = torch.stack((torch.ones_like(j), j, k))
        t = t.repeat((3, 1, 1))[j]  # expect: boolean-mask-index
        offsets = (torch.zeros_like(gxy)[None] + off[:, None])[j]  # expect: boolean-mask-index
    return t, offsets


def train(model, loader, optimizer, anchors, device):
    for images, targets in loader:
        p = model(images.to(device, non_blocking=True))
        t, offsets = build_targets(p, targets.to(device, non_blocking=True), anchors, device)
        loss = criterion(p, t, offsets)
        loss.backward()
        optimizer.step()
