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


def clt_loss(p, inputs, shape):
    layers = shape["layers"]
    x = inputs["inputs"].view(layers, -1, inputs["inputs"].shape[-1])
    targets = inputs["targets"].view_as(x)
    pre = torch.stack([x[l] @ p[f"encoder.{l}.weight"] + p[f"encoder.{l}.bias"] for l in range(layers)])
    with torch.no_grad():
        score = (pre - pre.mean(1, keepdim=True)) / (pre.std(1, keepdim=True) + 1e-6)
        count = min(shape["k"] * pre.shape[1], score.numel())
        mask = torch.zeros(score.numel()).scatter_(0, score.flatten().topk(count).indices, 1.0)
    active = pre * mask.view_as(pre)
    loss = 0
    for t in range(layers):
        y = sum(active[s] @ p[f"decoder.{s}.{t}"] for s in range(t + 1)) + p[f"decoder.bias.{t}"]
        loss = loss + F.mse_loss(y, targets[t])
    return loss


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
