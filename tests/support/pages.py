"""What an HTML page of a report or a comparison holds."""

from html.parser import HTMLParser


class Page(HTMLParser):
    """Tags with their attributes, the words of styles, scripts and the rest, and the cells of the rows of tables.

    A heading is a row, and the small text of a cell a cell.
    """

    def __init__(self, text: str):
        super().__init__()
        self.tags: list[tuple[str, dict]] = []
        self.words: dict[str, str] = {"style": "", "script": "", "": ""}
        self.rows: list[list[str]] = []
        self.inside, self.in_cell = "", False
        self.feed(text)

    @property
    def links(self) -> list[str]:
        return [attributes["href"] for tag, attributes in self.tags if tag == "a"]

    def handle_starttag(self, tag: str, attributes: list) -> None:
        self.tags.append((tag, dict(attributes)))
        self.inside = tag if tag in self.words else ""
        if tag in ("tr", "h2", "h3"):
            self.rows.append([])
        self.in_cell = tag in ("td", "th", "small", "h2", "h3", "a") and bool(self.rows)
        if self.in_cell and tag != "a":
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        self.inside, self.in_cell = "", False

    def handle_data(self, data: str) -> None:
        self.words[self.inside] += data
        if self.in_cell:
            self.rows[-1][-1] += data
