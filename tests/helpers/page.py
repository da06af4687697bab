"""Opens the page of swansong-exporter, or of the site, in Chromium, and does what it reads: a line is a command
with its arguments, an array of JSON, and its reply a line.  One that begins with "error" is a failure.

    open PATH            the page is shown and live
    visit URL            another page is shown
    script on|off        of the pages that are visited from now on
    size WIDTH HEIGHT    of the window
    scheme light|dark    preferred colours
    media screen|print
    contrast             texts with less than 4.5 to 1 against what is behind them: empty is good
    watch NAME SELECTOR [ATTRIBUTE] REGEX
                         from now on, the first time that the text (or attribute) of the element matches is noted
    seen NAME            waits for it: milliseconds since the epoch
    eval EXPRESSION      its value, as JSON
    until EXPRESSION     waits until the value is true
    keys KEY...          pressed; a name of selenium's Keys, or the text itself
    shot FILE            a picture of the window
    task                 the longest task of the page since the last time, in milliseconds of processor time;
                         with --trace
    console              what the console has, but for the loss of the connection: empty is good
"""
import json
import sys
import time

from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

DEADLINE = 30
MARK = "the page"  # of its thread in a trace

WATCH = """
const [name, selector, attribute, pattern] = arguments, regex = new RegExp(pattern);
window.seen = window.seen || {};
const look = () => {
    const element = document.querySelector(selector);
    const text = element && (attribute ? element.getAttribute(attribute) : element.textContent);
    if (text === null || !regex.test(text) || seen[name])
        return;
    seen[name] = Date.now();
    observer.disconnect();
};
const observer = new MutationObserver(look);
observer.observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
look();
"""

CONTRAST = """
const numbers = (color) => color.match(/[0-9.]+/g).map(Number);
const light = (color) => {
    const [r, g, b] = numbers(color).map((v) => v / 255).map((v) => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
    return .2126 * r + .7152 * g + .0722 * b;
};
const behind = (element) => {
    const color = element ? getComputedStyle(element).backgroundColor : "rgb(255, 255, 255)";
    const [, , , alpha = 1] = numbers(color);
    return alpha > .5 ? color : behind(element.parentElement);
};
return [...document.querySelectorAll("body *")].filter((e) => e.checkVisibility() && e.offsetWidth > 1 && e.namespaceURI.endsWith("xhtml") &&
        [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()) && !e.closest("option"))
    .map((e) => [light(getComputedStyle(e).color), light(behind(e)), e])
    .filter(([a, b]) => (Math.max(a, b) + .05) / (Math.min(a, b) + .05) < 4.5)
    .map(([, , e]) => `${e.tagName}.${e.className} ${e.textContent.slice(0, 40)}`).join("; ");
"""


class Page:
    def __init__(self, url, trace):
        options = Options()
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                         "--window-size=1280,800", "--hide-scrollbars", "--force-color-profile=srgb"):
            options.add_argument(argument)
        logs = {"browser": "ALL"}
        if trace:
            logs["performance"] = "ALL"
            options.add_experimental_option("perfLoggingPrefs", {
                "traceCategories": "blink.user_timing,disabled-by-default-devtools.timeline", "enableNetwork": False, "enablePage": False})
        options.set_capability("goog:loggingPrefs", logs)
        options.binary_location = "/usr/bin/chromium"
        self.url = url
        self.driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
        self.driver.set_page_load_timeout(DEADLINE)

    def wait(self, expression):
        end = time.monotonic() + DEADLINE
        while True:
            value = self.driver.execute_script("return " + expression)
            if value:
                return value
            if time.monotonic() > end:
                raise TimeoutError(expression)
            time.sleep(0.02)

    def open(self, path):
        self.driver.get(self.url + path)
        self.wait("document.body.classList.contains('live')")

    def visit(self, url):
        self.driver.get(url)

    def script(self, state):
        self.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": state == "off"})

    def size(self, width, height):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": int(width), "height": int(height), "deviceScaleFactor": 1, "mobile": int(width) < 600})

    def scheme(self, name):
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "features": [{"name": "prefers-color-scheme", "value": name}]})

    def media(self, name):
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": name})

    def contrast(self):
        return self.driver.execute_script(CONTRAST)

    def watch(self, name, selector, *rest):
        attribute, pattern = rest if len(rest) == 2 else (None, rest[0])
        self.driver.execute_script(WATCH, name, selector, attribute, pattern)

    def seen(self, name):
        return round(self.wait("window.seen[%s]" % json.dumps(name)))

    def eval(self, expression):
        return json.dumps(self.driver.execute_script("return " + expression))

    def until(self, expression):
        self.wait(expression)

    def keys(self, *names):
        for name in names:
            ActionChains(self.driver).send_keys(getattr(Keys, name, name)).perform()

    def shot(self, path):
        self.driver.save_screenshot(path)

    def task(self):
        self.driver.execute_script("performance.mark(arguments[0])", MARK)
        events = [json.loads(entry["message"])["message"]["params"] for entry in self.driver.get_log("performance")]
        self.driver.get_log("performance")  # the driver traces again
        threads = {(event["pid"], event["tid"]) for event in events if event.get("name") == MARK}
        times = [event.get("tdur", 0) for event in events
                 if event.get("name") == "RunTask" and (event["pid"], event["tid"]) in threads]
        return round(max(times) / 1000)

    def console(self):
        return " ".join(entry["message"] for entry in self.driver.get_log("browser")
                        if "ERR_" not in entry["message"])


def main():
    page = Page(sys.argv[1], "--trace" in sys.argv)
    print("ready", flush=True)
    try:
        for line in sys.stdin:
            try:
                name, *arguments = json.loads(line)
                reply = getattr(page, name)(*arguments)
            except Exception as e:  # the story decides about it
                reply = "error: %s: %s" % (type(e).__name__, str(e).split("\n", 1)[0])
            print("" if reply is None else reply, flush=True)
    finally:
        page.driver.quit()


main()
