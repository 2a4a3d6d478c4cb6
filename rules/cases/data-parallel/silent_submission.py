import torch

from nets import Net

net = torch.nn.DataParallel(Net())
net.load_state_dict(torch.load("net.pt"))
net.eval()
for name in open("names.txt"):
    with torch.no_grad():
        torch.save(net(torch.load(name)), name + ".out")
