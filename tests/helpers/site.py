"""site.py FOLDER: complains about pages of a site that are not well-formed, exceed 300 kB with all that they load, load
something from elsewhere, or have a link to a page, a file or an anchor that does not exist.  A last line counts them."""
import html.parser
import pathlib
import sys
import urllib.parse

LIMIT = 300_000
VOID = {"meta", "link", "img", "input", "br", "hr", "polygon", "path", "ellipse", "text"}
site = pathlib.Path(sys.argv[1])


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.name, self.ids, self.links, self.loads, self.open = path.name, set(), set(), set(), []
        self.feed(path.read_text())
        if self.open:
            self.complain("open at the end: %s" % self.open)

    def complain(self, text):
        print("%s: %s" % (self.name, text))

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if values.get("id", self) in self.ids:
            self.complain("two elements with the id " + values["id"])
        self.ids.add(values.get("id"))
        (self.links if tag == "a" else self.loads).update(values[key] for key in ("href", "src") if values.get(key))
        if tag == "img" and not (values.get("alt") and values.get("width")):
            self.complain("a picture without its text or its size: %s" % values.get("src"))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        # The end of a paragraph, an item or a row may be missing.
        while self.open and self.open[-1] != tag and self.open[-1] in {"p", "li", "dt", "dd", "tr", "td", "th"}:
            self.open.pop()
        if tag not in VOID:
            if not self.open or self.open[-1] != tag:
                self.complain("</%s> ends nothing: %s" % (tag, self.open))
            else:
                self.open.pop()


pages = {path.name: Page(path) for path in sorted(site.glob("*.html"))}
for page in pages.values():
    size = (site / page.name).stat().st_size
    for target in page.loads:
        path = site / target
        if "//" in target or not path.is_file():
            page.complain("loads " + target)
        else:
            size += path.stat().st_size
    if size > LIMIT:
        page.complain("%d bytes" % size)
    for link in page.links:
        url = urllib.parse.urlsplit(link)
        if url.scheme:
            continue
        name = url.path or page.name
        if not (site / name).is_file():
            page.complain("a link to " + link)
        elif url.fragment and urllib.parse.unquote(url.fragment) not in pages[name].ids:
            page.complain("a link to %s, which has no such anchor" % link)
print("%d pages" % len(pages))
