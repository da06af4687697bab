"""Opens the page of swansong-exporter in Chromium, and does what it reads: a line is a command
with its arguments, an array of JSON, and its reply a line.  One that begins with "error" is a failure.

    open PATH            the page is shown and live
    size WIDTH HEIGHT    of the window
    scheme light|dark    preferred colours
    watch NAME SELECTOR [ATTRIBUTE] REGEX
                         from now on, the first time that the text (or attribute) of the element matches is noted
    seen NAME            waits for it: milliseconds since the epoch
    eval EXPRESSION      its value, as JSON
    until EXPRESSION     waits until the value is true
    keys KEY...          pressed; a name of selenium's Keys, or the text itself
    shot FILE            a picture of the window
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

DEADLINE = 10

WATCH = """
const [name, selector, attribute, pattern] = arguments, regex = new RegExp(pattern);
window.seen = window.seen || {};
const look = () => {
    const element = document.querySelector(selector);
    const text = element && (attribute ? element.getAttribute(attribute) : element.textContent);
    if (text === null || !regex.test(text) || seen[name])
        return;
    seen[name] = performance.timeOrigin + performance.now();
    observer.disconnect();
};
const observer = new MutationObserver(look);
observer.observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
look();
"""


class Page:
    def __init__(self, url):
        options = Options()
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                         "--window-size=1280,800", "--hide-scrollbars", "--force-color-profile=srgb"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
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

    def size(self, width, height):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": int(width), "height": int(height), "deviceScaleFactor": 1, "mobile": int(width) < 600})

    def scheme(self, name):
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "features": [{"name": "prefers-color-scheme", "value": name}]})

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

    def console(self):
        return " ".join(entry["message"] for entry in self.driver.get_log("browser")
                        if "ERR_" not in entry["message"])


def main():
    page = Page(sys.argv[1])
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
