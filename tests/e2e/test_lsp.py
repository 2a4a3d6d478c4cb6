"""`stallscope lsp` as an editor speaks to it."""
import json
import os
import pathlib
import subprocess

import pytest

TEXT = """import torch


def train(model, loader, optimizer):
    for x in loader:
        optimizer.zero_grad(set_to_none=False)
        loss = model(x)
        loss.backward()
        optimizer.step()
        print("größe 😀", loss.item())
"""


class Editor:
    """Sends messages and reads what comes back."""

    def __init__(self, tool, folder):
        self.process = subprocess.Popen([tool, "lsp"], cwd=folder, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)
        self.id = 0

    def send(self, method, params, **more):
        body = json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **more}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def read(self):
        length = 0
        while (line := self.process.stdout.readline().strip()):
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        return json.loads(self.process.stdout.read(length))

    def ask(self, method, params):
        self.id += 1
        self.send(method, params, id=self.id)
        while (message := self.read()).get("id") != self.id:
            pass
        return message

    def diagnostics(self, uri):
        while True:
            message = self.read()
            if message.get("method") == "textDocument/publishDiagnostics" \
                    and message["params"]["uri"] == uri:
                return message["params"]["diagnostics"]


@pytest.fixture
def editor(tool, build, tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / "train.py").write_text("# older than what the editor shows\n")
    editor = Editor(os.environ.get("STALLSCOPE", str(build / "stallscope")), tmp_path)
    editor.uri = (tmp_path / "train.py").as_uri()
    editor.document = {"uri": editor.uri}
    yield editor
    editor.process.kill()
    editor.process.wait()


def open_document(editor):
    capabilities = editor.ask("initialize", {"capabilities": {}})["result"]["capabilities"]
    assert capabilities["hoverProvider"] and capabilities["textDocumentSync"]["change"] == 1
    editor.send("initialized", {})
    editor.send("textDocument/didOpen",
                {"textDocument": {**editor.document, "languageId": "python", "version": 1,
                                  "text": TEXT}})
    return editor.diagnostics(editor.uri)


def test_diagnostics_follow_the_text(editor):
    shown = {d["code"]: d for d in open_document(editor)}
    assert {"item-in-step", "zero-grad-not-none"} <= set(shown)
    assert shown["item-in-step"]["range"]["start"]["line"] == 9
    # 😀 is two units of UTF-16
    line = TEXT.splitlines()[9]
    assert shown["item-in-step"]["range"]["end"]["character"] == len(line.encode("utf-16-le")) // 2
    calm = TEXT.replace(".item()", ".detach()")
    for text in ("import torch\n", TEXT, calm):  # a burst of keys
        editor.send("textDocument/didChange",
                    {"textDocument": {**editor.document, "version": 2},
                     "contentChanges": [{"text": text}]})
    assert "item-in-step" not in {d["code"] for d in editor.diagnostics(editor.uri)}
    editor.send("textDocument/didSave", {"textDocument": editor.document})
    assert "zero-grad-not-none" in {d["code"] for d in editor.diagnostics(editor.uri)}
    editor.send("textDocument/didClose", {"textDocument": editor.document})
    assert editor.diagnostics(editor.uri) == []


def test_hover_tells_the_rule(editor):
    open_document(editor)
    place = {"textDocument": editor.document, "position": {"line": 9, "character": 20}}
    assert "item-in-step" in editor.ask("textDocument/hover", place)["result"]["contents"]["value"]
    place["position"]["line"] = 0
    assert editor.ask("textDocument/hover", place)["result"] is None


def ask_actions(editor, line, **context):
    spot = {"line": line, "character": 0}
    return editor.ask("textDocument/codeAction",
                      {"textDocument": editor.document, "range": {"start": spot, "end": spot},
                       "context": {"diagnostics": [], **context}})["result"]


def test_quick_fixes(editor):
    shown = open_document(editor)

    def actions(line):
        return {a["title"]: a["edit"]["changes"][editor.uri][0]["newText"] for a in ask_actions(editor, line)}

    fixes = actions(5)
    assert any("optimizer.zero_grad()\n" in text for text in fixes.values())
    # a suggestion: what reads .grad may see the difference
    assert not any(action["isPreferred"] for action in ask_actions(editor, 5))
    assert all(action["diagnostics"] == [d for d in shown if d["code"] == "zero-grad-not-none"]
               for action in ask_actions(editor, 5))
    for only, some in [(["quickfix"], True), ([""], True), (["refactor", "quickfix"], True), ([], False),
                       (["source.fixAll"], False), (["refactor"], False)]:
        assert bool(ask_actions(editor, 5, only=only)) == some, only
    accepted = actions(9)["Accept item-in-step here"]
    editor.send("textDocument/didChange", {"textDocument": {**editor.document, "version": 2},
                                           "contentChanges": [{"text": accepted}]})
    assert "item-in-step" not in {d["code"] for d in editor.diagnostics(editor.uri)}


def open_text(editor, uri, text):
    editor.send("textDocument/didOpen",
                {"textDocument": {"uri": uri, "languageId": "python", "version": 1, "text": text}})
    return {d["code"]: d["range"]["start"]["line"] for d in editor.diagnostics(uri)}


def test_other_open_files_count_as_they_are_shown(editor):
    helper = "def log(loss):\n    print(loss.item())\n"
    program = TEXT.replace("import torch", "import torch\nfrom helper import log") \
        .replace('print("größe 😀", loss.item())', "log(loss)")
    folder = pathlib.Path(editor.uri[7:]).parent
    (folder / "helper.py").write_text("import torch\n" + helper)
    (folder / "train.py").write_text("import torch\n")
    editor.ask("initialize", {"capabilities": {}})
    assert "item-in-step" not in open_text(editor, (folder / "helper.py").as_uri(), "import torch\n" + helper)
    open_text(editor, editor.uri, program)
    editor.send("textDocument/didSave", {"textDocument": {"uri": editor.uri}})  # of what is on disk nothing changed
    shown = {d["code"]: d["range"]["start"]["line"] for d in editor.diagnostics((folder / "helper.py").as_uri())}
    assert shown["item-in-step"] == 2


def test_a_new_file_in_a_new_folder(editor):
    editor.ask("initialize", {"capabilities": {}})
    assert open_text(editor, editor.uri.replace("train.py", "new/deep/a.py"), TEXT)["item-in-step"] == 9


CELLS = ["import torch\n%matplotlib inline",
         "def train(model, loader, optimizer):\n    for x in loader:\n"
         "        optimizer.zero_grad(set_to_none=False)\n        loss = model(x)\n"
         "        loss.backward()\n        optimizer.step()\n        print('ä', loss.item())"]


@pytest.mark.parametrize("language, expected", [("python", {"item-in-step", "zero-grad-not-none"}),
                                                ("markdown", None)])
def test_a_document_that_was_never_saved(editor, language, expected):
    open_document(editor)
    uri = "untitled:Untitled-1"
    editor.send("textDocument/didOpen",
                {"textDocument": {"uri": uri, "languageId": language, "version": 1, "text": TEXT}})
    if expected is None:  # what is no source is let alone: the next answer is the next question's
        assert "result" in editor.ask("textDocument/hover", {
            "textDocument": {"uri": uri}, "position": {"line": 0, "character": 0}})
        return
    shown = editor.diagnostics(uri)
    assert {d["code"] for d in shown} >= expected
    assert next(d for d in shown if d["code"] == "item-in-step")["range"]["start"]["line"] == 9


def test_cells_of_a_notebook_are_linted_as_one_program(editor):
    notebook = editor.uri.replace("train.py", "train.ipynb")
    cells = [f"vscode-notebook-cell:{notebook[7:]}#{name}" for name in "abc"]
    editor.ask("initialize", {"capabilities": {}})
    editor.send("notebookDocument/didOpen", {
        "notebookDocument": {"uri": notebook, "notebookType": "jupyter-notebook", "version": 1,
                             "cells": [{"kind": 2, "document": cells[0]},
                                       {"kind": 1, "document": cells[1]},
                                       {"kind": 2, "document": cells[2]}]},
        "cellTextDocuments": [{"uri": cells[0], "languageId": "python", "version": 1, "text": CELLS[0]},
                              {"uri": cells[2], "languageId": "python", "version": 1, "text": CELLS[1]}]})
    assert editor.diagnostics(cells[0]) == []
    shown = {d["code"]: d["range"]["start"]["line"] for d in editor.diagnostics(cells[2])}
    assert shown["zero-grad-not-none"] == 2 and shown["item-in-step"] == 6
    spot = {"line": 2, "character": 0}
    found = editor.ask("textDocument/codeAction",
                       {"textDocument": {"uri": cells[2]}, "range": {"start": spot, "end": spot},
                        "context": {"diagnostics": []}})["result"]
    texts = [action["edit"]["changes"][cells[2]][0]["newText"] for action in found]
    assert CELLS[1].replace("set_to_none=False", "") in texts
    # a key, as a range; then the cell above goes
    at = {"line": 6, "character": 19}
    editor.send("notebookDocument/didChange", {
        "notebookDocument": {"uri": notebook, "version": 2},
        "change": {"cells": {"textContent": [{
            "document": {"uri": cells[2], "version": 2},
            "changes": [{"range": {"start": at, "end": {"line": 6, "character": 30}},
                         "text": "loss.detach()"}]}]}}})
    assert "item-in-step" not in {d["code"] for d in editor.diagnostics(cells[2])}
    editor.send("notebookDocument/didChange", {
        "notebookDocument": {"uri": notebook, "version": 3},
        "change": {"cells": {"structure": {"array": {"start": 0, "deleteCount": 1},
                                           "didClose": [{"uri": cells[0]}]}}}})
    lines = {d["code"]: d["range"]["start"]["line"] for d in editor.diagnostics(cells[2])}
    assert lines["zero-grad-not-none"] == 2
    editor.send("notebookDocument/didClose", {"notebookDocument": {"uri": notebook},
                                              "cellTextDocuments": [{"uri": cells[2]}]})
    assert editor.diagnostics(cells[2]) == []


def test_what_is_not_understood_is_answered(editor):
    open_document(editor)
    assert editor.ask("textDocument/rename", {})["error"]["code"] == -32601
    assert editor.ask("textDocument/hover", {})["error"]["code"] == -32602
    editor.process.stdin.write(b"Content-Length: 3\r\n\r\n{x}")
    editor.process.stdin.flush()
    assert editor.read()["error"]["code"] == -32700
    # names of header fields have no case
    body = b'{"jsonrpc": "2.0", "id": "low", "method": "textDocument/rename"}'
    editor.process.stdin.write(b"content-type: x\r\ncontent-length:%d\r\n\r\n" % len(body) + body)
    editor.process.stdin.flush()
    assert editor.read()["id"] == "low"
    assert editor.ask("shutdown", None)["result"] is None
    editor.send("exit", None)
    assert editor.process.wait(10) == 0
