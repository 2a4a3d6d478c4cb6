"""What a program computes is the same, bit for bit, whether or not it is recorded."""
import json
import subprocess

from python_packages import python_with

# A network with convolutions, attention and normalisation, trained from three seeds; every loss is printed exactly.
TRAIN = """
import torch
torch.set_num_threads(1)

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.convolution = torch.nn.Conv1d(8, 32, 3, padding=1)
        self.attention = torch.nn.TransformerEncoderLayer(32, 4, 64, dropout=0.1, batch_first=True)
        self.head = torch.nn.Linear(32, 4)

    def forward(self, x):
        return self.head(self.attention(self.convolution(x).transpose(1, 2)).mean(1))

for seed in (0, 1, 17):
    torch.manual_seed(seed)
    data = torch.utils.data.TensorDataset(torch.randn(160, 8, 64), torch.randint(4, (160,)))
    loader = torch.utils.data.DataLoader(data, 32, shuffle=True)
    model = Model()
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
    for epoch in range(6):
        for x, y in loader:
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            print(seed, loss.item().hex())
"""


def test_losses_of_several_seeds_with_native_sampling(tool, tmp_path):
    python, program, out = python_with("torch"), tmp_path / "train.py", tmp_path / "out"
    program.write_text(TRAIN)
    plain = subprocess.run([python, program], capture_output=True, text=True, check=True).stdout
    assert len(plain.splitlines()) == 3 * 6 * 5
    recorded = tool("run", "-q", "-o", out, "--sample-rate", "1000", "--", python, program).stdout
    assert recorded == plain
    environment = json.loads((out / "trace/run.json").read_text())["environment"]
    assert int(environment["python.samples"]) > 10
    if environment["python.native"] == "on":
        assert int(environment["python.native_looks"]) > 0
