"""action.yml: the GitHub action that lints a pull request."""
import os
import re
import subprocess


def test_the_action_builds_again_when_its_sources_change(tmp_path, source):
    """A branch as the action's version moves on, and the cache must not bring back an older tool."""
    action = (source / "action.yml").read_text()
    step = re.search(r"^      run: '(.*)'$", action, re.MULTILINE).group(1)
    here, output = tmp_path / "action", tmp_path / "output"
    for folder in ("cmake", "rules", "scripts", "src"):
        (here / folder).mkdir(parents=True)
    for name in ("CMakeLists.txt", "CMakePresets.json", "rules/a.yaml", "src/a file.cpp"):
        (here / name).write_text("one")

    def key():
        output.write_text("")
        subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step], check=True,
                       env={**os.environ, "GITHUB_ACTION_PATH": str(here), "GITHUB_OUTPUT": str(output)})
        return re.fullmatch(r"hash=([0-9a-f]{16})\n", output.read_text()).group(1)

    first = key()
    assert key() == first and "steps.sources.outputs.hash" in action
    (here / "src/a file.cpp").write_text("two")
    assert key() != first
