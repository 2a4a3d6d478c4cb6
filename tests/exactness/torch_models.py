"""The reference trainer's models in plain PyTorch, as functions of named parameters."""
import math

import torch
import torch.nn.functional as F


def _norm(p, name, x, eps):
    return F.layer_norm(x, x.shape[-1:], p[name + ".gain"], p[name + ".bias"], eps)


def _attention(p, name, x, shape, causal):
    batch, sequence = shape["batch"], shape["sequence"]
    weight = p[name + ".attention.qkv.weight"]
    hidden, _, heads, size = weight.shape
    qkv = x @ weight.reshape(hidden, -1) + p[name + ".attention.qkv.bias"].reshape(-1)
    q, k, v = qkv.view(batch, sequence, 3, heads, size).permute(2, 0, 3, 1, 4)
    y = F.scaled_dot_product_attention(q, k, v, is_causal=causal)
    y = y.transpose(1, 2).reshape(batch * sequence, hidden)
    return y @ p[name + ".attention.out.weight"].reshape(hidden, hidden) \
        + p[name + ".attention.out.bias"]


def _mlp(p, name, x, approximate):
    y = F.gelu(x @ p[name + ".mlp.up.weight"] + p[name + ".mlp.up.bias"], approximate=approximate)
    return y @ p[name + ".mlp.down.weight"] + p[name + ".mlp.down.bias"]


def bert_loss(p, inputs, shape):
    batch = shape["batch"]
    x = p["embedding.token"][inputs["tokens"]] + p["embedding.position"].repeat(batch, 1) \
        + p["embedding.segment"]
    x = _norm(p, "embedding.norm", x, 1e-12)
    for layer in range(shape["layers"]):
        name = f"layer.{layer}"
        x = _norm(p, name + ".norm1", x + _attention(p, name, x, shape, False), 1e-12)
        x = _norm(p, name + ".norm2", x + _mlp(p, name, x, "none"), 1e-12)
    if "masked" in inputs:
        x = x[inputs["masked"]]
    x = _norm(p, "head.norm", F.gelu(x @ p["head.weight"] + p["head.bias"]), 1e-12)
    logits = F.linear(x, p["embedding.token"], p["head.out.bias"])
    return F.cross_entropy(logits.float(), inputs["labels"], ignore_index=-1)


def gpt_loss(p, inputs, shape):
    x = p["embedding.token"][inputs["tokens"]] + p["embedding.position"].repeat(shape["batch"], 1)
    for layer in range(shape["layers"]):
        name = f"layer.{layer}"
        x = x + _attention(p, name, _norm(p, name + ".norm1", x, 1e-5), shape, True)
        x = x + _mlp(p, name, _norm(p, name + ".norm2", x, 1e-5), "tanh")
    x = _norm(p, "final.norm", x, 1e-5)
    return F.cross_entropy(F.linear(x, p["embedding.token"]).float(), inputs["labels"],
                           ignore_index=-1)


class Jump(torch.autograd.Function):
    """x above the threshold, else 0; the threshold's gradient is -x / bandwidth around it."""
    @staticmethod
    def forward(ctx, x, threshold, bandwidth):
        ctx.save_for_backward(x, threshold)
        ctx.bandwidth = bandwidth
        return x * (x > threshold)

    @staticmethod
    def backward(ctx, gradient):
        x, threshold = ctx.saved_tensors
        band = ((x - threshold).abs() < ctx.bandwidth / 2).to(x.dtype)
        return (gradient * (x > threshold),
                (-x / ctx.bandwidth * band * gradient).sum(0, keepdim=True), None)


def _clt_active(pre, p, shape):
    layers, batch, features = pre.shape
    if shape.get("activation") == "jumprelu":
        return torch.stack([Jump.apply(pre[l], p["threshold"][l:l + 1], 1.0)
                            for l in range(layers)])
    with torch.no_grad():
        score = (pre - pre.mean(1, keepdim=True)) / (pre.std(1, keepdim=True) + 1e-6)
        if shape.get("activation") == "token-topk":
            rows = score.transpose(0, 1).reshape(batch, -1)
            best = rows.topk(min(shape["k"], rows.shape[1])).indices
            mask = torch.zeros_like(rows).scatter_(1, best, 1.0)
            mask = mask.view(batch, layers, features).transpose(0, 1)
        else:
            count = min(shape["k"] * batch, score.numel())
            mask = torch.zeros(score.numel()).scatter_(0, score.flatten().topk(count).indices, 1.0)
            mask = mask.view_as(pre)
    return pre * mask


def _clt_decode(p, active):
    layers = len(active)
    return [sum(active[s] @ p[f"decoder.{s}"][:, t - s] for s in range(t + 1))
            for t in range(layers)]


def clt_loss(p, inputs, shape):
    layers = shape["layers"]
    x = inputs["inputs"].view(layers, -1, inputs["inputs"].shape[-1])
    targets = inputs["targets"].view_as(x)
    pre = torch.stack([x[l] @ p[f"encoder.{l}.weight"] + p[f"encoder.{l}.bias"] for l in range(layers)])
    active = _clt_active(pre, p, shape)
    outputs = [y + p[f"decoder.bias.{t}"] for t, y in enumerate(_clt_decode(p, active))]
    loss = sum(F.mse_loss(y, targets[t]) for t, y in enumerate(outputs))
    if shape.get("decoder") == "dense":
        return loss
    batch = pre.shape[1]
    if shape.get("activation", "batch-topk") != "batch-topk":
        for s in range(layers):
            norms = p[f"decoder.{s}"].flatten(1).norm(dim=1)
            loss = loss + inputs["sparsity"] * torch.tanh(norms * active[s]).sum() / batch
    loss = loss + 3e-6 * F.relu(-pre).mean()
    # Features idle for more than `dead_after` steps decode what is left.
    idle = shape.setdefault("idle", torch.zeros(layers, pre.shape[2]))
    is_active = (active != 0).any(1)
    idle = torch.where(is_active, 0, idle + 1)
    shape["idle"] = idle
    dead = (idle > shape.get("dead_after", 1000)).unsqueeze(1)
    count = int(dead.sum())
    if count == 0:
        return loss
    rows = torch.where(dead, pre, -math.inf).transpose(0, 1).reshape(batch, -1)
    best = rows.topk(min(512, count)).indices
    mask = torch.zeros_like(rows).scatter_(1, best, 1.0).view(batch, layers, -1).transpose(0, 1)
    decoded = _clt_decode(p, pre * mask)
    factor = min(count / 512, 1) / 32
    return loss + factor * sum(F.mse_loss(y, (targets[t] - outputs[t]).detach())
                               for t, y in enumerate(decoded))


LOSSES = {"bert": bert_loss, "gpt": gpt_loss, "clt": clt_loss}


def decays(name):
    """Matrices decay; biases, gains and positions do not, nor does anything of the transcoder."""
    return name == "embedding.token" or (
        name.endswith(".weight") and not name.startswith("encoder."))


def optimizer(parameters, rate, fused=False):
    groups = [{"params": [v for n, v in parameters.items() if decays(n)], "weight_decay": 0.01},
              {"params": [v for n, v in parameters.items() if not decays(n)],
               "weight_decay": 0.0}]
    return torch.optim.AdamW([g for g in groups if g["params"]], lr=rate, fused=fused)
