"""The report's page in a real browser, and the documents against their schemas."""
import base64
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import xml.etree.ElementTree as xml

import jsonschema
import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

SAMPLES = ["full", "abstaining", "clean", "empty"]
BROWSER, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
ARGUMENTS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--disable-sync",
             "--disable-dev-shm-usage", "--hide-scrollbars", "--no-proxy-server"]


@pytest.fixture(scope="module")
def pages(build, tmp_path_factory):
    folder = tmp_path_factory.mktemp("sample-reports")
    subprocess.run([str(build / "render_sample_reports"), str(folder)], check=True)
    return folder


@pytest.fixture(scope="module")
def browser():
    assert BROWSER and DRIVER, "chromium and chromedriver are missing: run scripts/setup.sh --test"
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    profile = tempfile.mkdtemp()
    for argument in [*ARGUMENTS, f"--user-data-dir={profile}"]:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(service=Service(DRIVER), options=options)
    yield driver
    driver.quit()
    shutil.rmtree(profile, ignore_errors=True)


def show(driver, page, width=1280, dark=False, media="", scripts=True, fragment=""):
    """Load a page afresh under the given conditions."""
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": not scripts})
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
        "media": media, "features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
                                     {"name": "prefers-reduced-motion", "value": "reduce"}]})
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                           {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False})
    driver.get("about:blank")
    driver.get_log("browser"), driver.get_log("performance")
    driver.get(page.as_uri() + fragment)


def requests(driver):
    """Every URL the page asked for."""
    urls = []
    for entry in driver.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            urls.append(message["params"]["request"]["url"])
    return urls


@pytest.mark.parametrize("sample", SAMPLES + ["many-ranks"])
def test_no_console_message_and_no_network(browser, pages, sample):
    page = pages / sample / "report.html"
    show(browser, page)
    asked = [url for url in requests(browser) if not url.startswith(("data:", "about:"))]
    assert asked == [page.as_uri()]
    assert browser.get_log("browser") == []


def test_policy_forbids_what_is_not_part_of_the_page(browser, pages):
    show(browser, pages / "full/report.html")
    policy = browser.find_element(By.CSS_SELECTOR, "meta[http-equiv=Content-Security-Policy]").get_attribute("content")
    assert "default-src 'none'" in policy and "unsafe" not in policy and "http" not in policy
    # The policy works: a script and an image put into the page do nothing.
    browser.execute_script("""
        const s = document.createElement('script'); s.textContent = 'window.planted = 1'; document.body.append(s);
        const i = new Image(); i.src = 'https://example.invalid/x.png'; document.body.append(i);""")
    assert browser.execute_script("return window.planted") is None
    refused = lambda: [e for e in browser.get_log("browser") if "Content Security Policy" in e["message"]]
    seen = []
    WebDriverWait(browser, 5).until(lambda d: seen.extend(refused()) or len(seen) >= 2)
    assert not any("net::" in e["message"] for e in seen), "the request left the browser"


def test_hostile_texts_stay_text(browser, pages):
    show(browser, pages / "full/report.html")
    assert browser.execute_script("return window.xss") is None
    assert browser.find_elements(By.CSS_SELECTOR, "main img, main b, main image, [onerror]") == []
    text = browser.find_element(By.TAG_NAME, "main").get_attribute("textContent")
    for part in ["Keep <b>metrics</b> on the device", "</script><img src=x onerror=alert(1)>.py",
                 "</script><script>alert(1)</script>", "<img src=x onerror=alert(3)>"]:
        assert part in text
    assert len(browser.execute_script("return page.data.findings")) == 10


@pytest.mark.parametrize("sample,dark", [("full", False), ("full", True), ("abstaining", True), ("empty", False)])
def test_accessible(browser, pages, source, sample, dark):
    show(browser, pages / sample / "report.html", dark=dark)
    browser.execute_script("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    browser.execute_cdp_cmd("Runtime.evaluate", {"expression": (source / "deps/axe-core/axe.min.js").read_text()})
    found = browser.execute_async_script(
        "const done = arguments[0]; axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', "
        "'best-practice'] }).then((r) => done(r))")
    assert len(found["passes"]) > 10
    violations = [(v["id"], [n["html"][:160] + " | " + n["failureSummary"][:200] for n in v["nodes"][:3]]) for v in found["violations"]]
    assert violations == []


def test_wide_text_contrast_of_class_labels(browser, pages):
    """axe does not look into SVG: labels on the bar need 4.5:1 against their class's colour."""
    show(browser, pages / "full/report.html")

    def luminance(colour):
        parts = [int(v) / 255 for v in re.findall(r"\d+", colour)[:3]]
        linear = [v / 12.92 if v <= 0.03928 else ((v + 0.055) / 1.055) ** 2.4 for v in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    pairs = browser.execute_script(
        "return [...document.querySelectorAll('.bar svg')].filter((s) => s.querySelector('text')).map((s) => "
        "[getComputedStyle(s.querySelector('rect')).fill, getComputedStyle(s.querySelector('text')).fill])")
    assert len(pairs) >= 4
    for back, text in pairs:
        low, high = sorted([luminance(back), luminance(text)])
        assert (high + 0.05) / (low + 0.05) >= 4.5, (back, text)


def test_bar_sums_to_the_whole_step(browser, pages):
    show(browser, pages / "full/report.html")
    widths = browser.execute_script("return [...document.querySelectorAll('.bar > svg')].map((s) => parseFloat(s.getAttribute('width')))")
    assert len(widths) == 9 and abs(sum(widths) - 100) < 0.01


def test_host_costs_and_graphs_are_tables(browser, pages):
    show(browser, pages / "full/report.html")
    browser.execute_script("document.querySelectorAll('details').forEach((d) => { d.open = true; })")

    def rows(label):
        body = browser.find_element(By.CSS_SELECTOR, f"[aria-label='{label}'] tbody")
        return [[cell.text for cell in row.find_elements(By.XPATH, "./*")]
                for row in body.find_elements(By.TAG_NAME, "tr")]
    assert rows("Host time by known cost")[0] == ["pytree flatten and unflatten", "410 \u00b5s", "3.2 %", "train.py:61"]
    functions = rows("Hottest Python functions in steps")
    assert [row[0] for row in functions] == ["tree_flatten", "<b>main</b>"]  # by own time
    assert functions[1][2:] == ["12 \u00b5s", "0.1 %", "12.1 ms", "95 %"]
    # What a line's own time is spent in below Python; a table without any has no such column.
    line, = rows("Hottest Python lines in steps")
    assert (line[0], line[6]) == ("update", "dgesdd_ (libscipy_openblas64_) 85 %") and len(functions[0]) == 6
    graphs = rows("CUDA graphs by line")
    assert [row[0] for row in graphs] == ["CUDA graph 4", "CUDA graph 9"]
    # Whole graphs do not tell what each line's part of them takes.
    assert graphs[0][4:6] == ["91 ms", "\u2014"] and graphs[1][4:6] == ["unknown", "91 ms"]


def test_readable_with_scripts_off(browser, pages):
    show(browser, pages / "full/report.html", scripts=False)
    text = browser.find_element(By.TAG_NAME, "main").text
    for part in ["Median step", "Recoverable", "Read the loss back every log interval", "trainer/loop.py:212",
                 "self.total += loss.item()", "scripts are off", "Gains overlap, do not add"]:
        assert part in text, part
    assert browser.find_elements(By.CSS_SELECTOR, "svg.mini")
    # Nothing that needs a script is offered.
    assert not any(button.is_displayed() for button in browser.find_elements(By.CSS_SELECTOR, "main button, #theme"))
    show(browser, pages / "full/report.html")


def test_everything_is_expanded_in_print(browser, pages):
    for scripts in (True, False):
        show(browser, pages / "full/report.html", media="print", scripts=scripts)
        if scripts:
            browser.execute_script("window.dispatchEvent(new Event('beforeprint'))")
        hidden = browser.execute_cdp_cmd("Runtime.evaluate", {"returnByValue": True, "expression": """
            [...document.querySelectorAll('.finding .body, .rules ul')].filter((e) => !e.checkVisibility({contentVisibilityAuto: true})
              || e.getBoundingClientRect().height < 5).length"""}) if scripts else None
        if scripts:
            assert hidden["result"]["value"] == 0
        pdf = base64.b64decode(browser.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})["data"])
        assert pdf.startswith(b"%PDF")
        pages_printed = len(re.findall(rb"/Type\s*/Page[^s]", pdf))
        assert pages_printed >= 6, f"only {pages_printed} pages: folded parts were left out"
    show(browser, pages / "full/report.html")


def canvas_of(driver):
    return driver.find_element(By.CSS_SELECTOR, "#timeline-view canvas")


def test_timeline_keys(browser, pages):
    show(browser, pages / "full/report.html")
    canvas = canvas_of(browser)
    span = lambda: int(canvas.get_attribute("data-span"))
    start = lambda: int(canvas.get_attribute("data-start"))
    output = browser.find_element(By.CSS_SELECTOR, "#timeline-view output")
    whole = span()
    canvas.send_keys("w")
    assert span() < whole and start() > 0
    at = start()
    canvas.send_keys("d")
    assert start() > at
    canvas.send_keys("aa")
    assert start() < at + 1
    canvas.send_keys("ssssss")
    assert span() == whole and start() == 0
    canvas.send_keys(".")
    first = output.text
    assert "ms" in first or "µs" in first
    canvas.send_keys(".")
    assert output.text != first
    canvas.send_keys(",")
    assert output.text == first
    canvas.send_keys("f")
    assert span() < whole
    canvas.send_keys("f")
    assert span() == whole
    canvas.send_keys("?")
    dialog = browser.find_element(By.ID, "keys")
    assert dialog.is_displayed()
    dialog.find_element(By.TAG_NAME, "button").click()
    assert not dialog.is_displayed()
    drawn = browser.execute_script(
        "const c = arguments[0], d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data; const seen = new Set();"
        "for (let i = 0; i < d.length; i += 16) seen.add(`${d[i]},${d[i+1]},${d[i+2]}`); return seen.size", canvas)
    assert drawn > 10


def test_keyboard_reaches_everything_in_order(browser, pages):
    show(browser, pages / "full/report.html")
    body, seen = browser.find_element(By.TAG_NAME, "body"), []
    for _ in range(60):
        browser.switch_to.active_element.send_keys(Keys.TAB)
        label = browser.execute_script(
            "const e = document.activeElement; return e.tagName + ' ' + (e.id || e.getAttribute('aria-label') || e.textContent).trim().slice(0, 40)")
        seen.append(label)
        if label.startswith("CANVAS"):
            break
    assert seen[0].startswith("A Skip to the summary")
    assert any(label.startswith("SUMMARY") for label in seen) and seen[-1].startswith("CANVAS"), seen
    outline = browser.execute_script("return getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    # A finding opens from the keyboard.
    fold = browser.find_elements(By.CSS_SELECTOR, ".finding > details")[5]
    assert fold.get_attribute("open") is None
    fold.find_element(By.TAG_NAME, "summary").send_keys(Keys.ENTER)
    assert fold.get_attribute("open") is not None


def test_permalinks(browser, pages):
    data = json.loads((pages / "full/report.json").read_text())
    print_ = data["findings"][6]["fingerprint"]
    show(browser, pages / "full/report.html", fragment=f"#finding={print_}&rank=0")
    article = browser.find_element(By.ID, f"finding={print_}")
    WebDriverWait(browser, 5).until(lambda d: article.find_element(By.TAG_NAME, "details").get_attribute("open") is not None)
    assert canvas_of(browser).get_attribute("data-rank") == "0"
    top = browser.execute_script("return arguments[0].getBoundingClientRect().top", article)
    assert -10 <= top < 900
    show(browser, pages / "full/report.html", fragment="#finding=%00nonsense&rank=99")
    assert browser.get_log("browser") == []


def test_theme_button(browser, pages):
    show(browser, pages / "full/report.html", dark=False)
    background = lambda: browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    light, button = background(), browser.find_element(By.ID, "theme")
    button.click(), button.click()
    assert background() != light and button.text == "Theme: dark"
    button.click()
    assert background() == light
    show(browser, pages / "full/report.html", dark=True)
    assert background() != light


@pytest.mark.parametrize("width", [390, 1280, 2560])
def test_nothing_overflows(browser, pages, width):
    """The page itself never scrolls sideways. STALLSCOPE_SCREENSHOTS=DIR keeps pictures to look at."""
    for sample in ["full", "empty"]:
        show(browser, pages / sample / "report.html", width=width)
        browser.execute_script("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width, sample
    if folder := os.environ.get("STALLSCOPE_SCREENSHOTS"):
        for sample in SAMPLES:
            for dark in (False, True):
                show(browser, pages / sample / "report.html", width=width, dark=dark)
                height = browser.execute_script("return document.documentElement.scrollHeight")
                picture = browser.execute_cdp_cmd("Page.captureScreenshot", {
                    "captureBeyondViewport": True, "clip": {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}})
                name = f"{sample}-{width}-{'dark' if dark else 'light'}.png"
                (pathlib.Path(folder) / name).write_bytes(base64.b64decode(picture["data"]))


def test_empty_states_say_why(browser, pages):
    show(browser, pages / "empty/report.html")
    texts = [p.text for p in browser.find_elements(By.CSS_SELECTOR, ".empty")]
    assert len(texts) >= 6 and all(len(text) > 15 for text in texts)
    show(browser, pages / "abstaining/report.html")
    main = browser.find_element(By.TAG_NAME, "main").text
    assert "No verdict" in main and "profiler was started without device activity" in main
    assert "Median step" not in main.split("Findings")[0] and "Recoverable" not in main


def test_sizes(pages):
    assert (pages / "empty/report.html").stat().st_size <= 150_000
    assert (pages / "full/report.html").stat().st_size <= 1_000_000
    assert (pages / "many-ranks/report.html").stat().st_size <= 10_000_000


def schema_keys(schema, document, path, missing):
    """Collect the keys of `document` that `schema` does not describe."""
    defs = schema_keys.root["$defs"]
    while "$ref" in schema:
        schema = defs[schema["$ref"].split("/")[-1]]
    for option in schema.get("oneOf", []):
        if option.get("type") != "null" and document is not None:
            return schema_keys(option, document, path, missing)
    if isinstance(document, dict):
        for key, value in document.items():
            inner = schema.get("properties", {}).get(key, schema.get("additionalProperties"))
            if inner is None:
                missing.append(f"{path}.{key}")
            elif isinstance(inner, dict):
                schema_keys(inner, value, f"{path}.{key}", missing)
    elif isinstance(document, list):
        for item in document:
            schema_keys(schema.get("items", {}), item, f"{path}[]", missing)


@pytest.mark.parametrize("sample", SAMPLES + ["many-ranks"])
def test_report_json_follows_its_schema(pages, source, sample):
    schema = json.loads((source / "reports/report.schema.json").read_text())
    document = json.loads((pages / sample / "report.json").read_text())
    del document["ranks"][20:]  # the others are alike, and validating takes its time
    jsonschema.Draft202012Validator.check_schema(schema)
    errors = sorted(jsonschema.Draft202012Validator(schema).iter_errors(document), key=str)
    assert [f"{list(e.path)}: {e.message[:200]}" for e in errors[:5]] == []
    missing = []
    schema_keys.root = schema
    schema_keys(schema, document, "", missing)
    assert sorted(set(missing)) == [], "keys that the schema does not describe"


def test_json_numbers_are_consistent(pages):
    document = json.loads((pages / "full/report.json").read_text())
    for rank in document["ranks"]:
        assert abs(sum(part["fraction"] for part in rank["breakdown"]) - 1) < 1e-9
        assert len(rank["breakdown"]) == 9
    gains = [f["gain"]["stepTimeNs"]["mid"] for f in document["findings"] if f["gain"] and f["gain"]["stepTimeNs"]]
    assert gains == sorted(gains, reverse=True)
    share = document["summary"]["recoverableFraction"]
    assert 0 < share["low"] <= share["mid"] <= share["high"] <= 1
    empty = json.loads((pages / "empty/report.json").read_text())
    assert empty["summary"]["stepTimeNs"] is None and empty["summary"]["recoverableFraction"] is None


def test_ci_formats_are_well_formed(pages):
    for sample in SAMPLES:
        root = xml.fromstring((pages / sample / "report.junit.xml").read_bytes())
        suite = root.find("testsuite")
        cases = suite.findall("testcase")
        assert int(suite.get("tests")) == len(cases)
        assert int(suite.get("failures")) == len(suite.findall("testcase/failure"))
        sarif = json.loads((pages / sample / "report.sarif").read_text())
        assert sarif["version"] == "2.1.0"
        (run,) = sarif["runs"]
        ids = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
        assert len(ids) == len(set(ids))
        for result in run["results"]:
            assert ids[result["ruleIndex"]] == result["ruleId"]
            assert result["level"] in ("error", "warning", "note") and result["message"]["text"]
            assert result["partialFingerprints"]
            for location in result["locations"]:
                uri = location.get("physicalLocation", {}).get("artifactLocation", {}).get("uri", "")
                assert re.fullmatch(r"[A-Za-z0-9\-._~/!$&'()*+,=@%:]*", uri)
        for entry in json.loads((pages / sample / "gl-code-quality-report.json").read_text()):
            assert entry["severity"] in ("info", "minor", "major", "critical", "blocker")
            assert entry["location"]["lines"]["begin"] >= 1 and entry["location"]["path"] and entry["fingerprint"]
        for line in filter(None, (pages / sample / "report.github").read_text().split("\n")):
            assert re.match(r"::(error|warning|notice)( [a-z]+=[^,]*(,[a-z]+=[^,]*)*)?::", line), line
