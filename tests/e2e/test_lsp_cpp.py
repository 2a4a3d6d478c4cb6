"""`stallscope lsp` on C++ and CUDA: with libclang's types and without."""
import os

import pytest

from test_lint_types import CHECKS, libclang  # noqa: F401
from test_lsp import Editor

# Meter's item() is no tensor's: only types tell.
TRAIN = """#include <torch/torch.h>
struct Meter { double total = 0; double item() const { return total; } };
void train(torch::nn::Sequential net, std::vector<torch::Tensor>& batches,
           torch::optim::Adam& adam, Meter& meter) {
  for (auto& x : batches) {
    auto loss = torch::nll_loss(net->forward(x), x);
    loss.backward();
    adam.step();
    log("größe 😀", loss.item<float>());
    log("mean", meter.item());
  }
}
"""

KERNELS = """#include "checks.h"
__global__ void kernel(float* x) { x[threadIdx.x] = 0; }
void train(float* w, int steps) {
  for (int step = 0; step < steps; ++step) {
    kernel<<<1, 32>>>(w);
    SYNC();
    CHECK(cudaStreamSynchronize(0));
    model_backward(w);
    model_update(w);
  }
}
"""

# What is found with types, and by structure alone: rule and 0-based line.
EXPECTED = {
    "train.cpp": ({("item-in-step", 8)}, {("item-in-step", 8), ("item-in-step", 9)}),
    "train.cu": ({("explicit-sync", 5), ("explicit-sync", 6)}, {("explicit-sync", 5), ("explicit-sync", 6)}),
}
TEXTS = {"train.cpp": TRAIN, "train.cu": KERNELS}


@pytest.fixture
def start(build, tmp_path, monkeypatch):
    """start(typed): an editor on a project of the two files, which are not saved yet."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "checks.h").write_text(CHECKS)
    for name in TEXTS:
        (tmp_path / name).write_text("// older than what the editor shows\n")
    editors = []

    def begin(typed):
        if not typed:
            monkeypatch.setenv("STALLSCOPE_LIBCLANG", str(tmp_path / "libclang.so"))
        editors.append(Editor(os.environ.get("STALLSCOPE", str(build / "stallscope")), tmp_path))
        assert editors[0].ask("initialize", {"capabilities": {}})["result"]["capabilities"]["hoverProvider"]
        return editors[0], tmp_path

    yield begin
    for editor in editors:
        editor.process.kill()
        editor.process.wait()


@pytest.fixture(params=["with types", "by structure"])
def typed(request):
    if request.param == "with types":
        request.getfixturevalue("libclang")
    return request.param == "with types"


@pytest.mark.parametrize("name", list(TEXTS))
def test_diagnostics_hover_and_quick_fixes(start, typed, name):
    editor, folder = start(typed)
    document = {"uri": (folder / name).as_uri()}
    editor.send("textDocument/didOpen", {"textDocument": {
        **document, "languageId": "cpp", "version": 1, "text": TEXTS[name]}})
    shown = editor.diagnostics(document["uri"])
    expected = EXPECTED[name][0 if typed else 1]
    rules = {"item-in-step", "explicit-sync"}
    assert {(d["code"], d["range"]["start"]["line"]) for d in shown if d["code"] in rules} == expected

    # The lines that types decide are hovered as they are marked.
    for rule, line in EXPECTED[name][0] | EXPECTED[name][1]:
        place = {"textDocument": document, "position": {"line": line, "character": 8}}
        answer = editor.ask("textDocument/hover", place)["result"]
        assert (answer is not None and rule in answer["contents"]["value"]) == ((rule, line) in expected)

    rule, line = max(expected)
    spot = {"line": line, "character": 0}
    actions = editor.ask("textDocument/codeAction", {"textDocument": document, "context": {"diagnostics": []},
                                                     "range": {"start": spot, "end": spot}})["result"]
    accept = next(a for a in actions if a["title"] == f"Accept {rule} here")
    text = accept["edit"]["changes"][document["uri"]][0]["newText"]
    assert f"// stallscope: ignore[{rule}]" in text.splitlines()[line]
    editor.send("textDocument/didChange", {"textDocument": {**document, "version": 2},
                                           "contentChanges": [{"text": text}]})
    left = {(d["code"], d["range"]["start"]["line"]) for d in editor.diagnostics(document["uri"])}
    assert (rule, line) not in left and expected - {(rule, line)} <= left


def test_a_header_that_changes_on_disk_is_read_anew(start, libclang):  # noqa: F811
    editor, folder = start(True)
    document = {"uri": (folder / "train.cu").as_uri()}
    editor.send("textDocument/didOpen", {"textDocument": {
        **document, "languageId": "cuda-cpp", "version": 1, "text": KERNELS}})
    lines = {d["range"]["start"]["line"] for d in editor.diagnostics(document["uri"])}
    assert 5 in lines
    (folder / "checks.h").write_text(CHECKS.replace("CHECK(cudaDeviceSynchronize())", "(void)0"))
    editor.send("workspace/didChangeWatchedFiles", {"changes": []})
    assert 5 not in {d["range"]["start"]["line"] for d in editor.diagnostics(document["uri"])}
