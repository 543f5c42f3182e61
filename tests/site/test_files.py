"""The files of the site as they are served and exported: their readers, headers and content."""

import json
import re
from collections.abc import Iterable, Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import pytest

from edge_auth.api.blueprints import ENDPOINTS
from edge_auth.errors import API_ERRORS
from generator.site import pages as site
from generator.site.openapi import strict_document
from generator.storage.keys import SCOPES
from generator.storage.layout import MEDIA_TYPES
from tests.support.commands import run
from tests.support.recorded import Recorded
from tests.support.service import ROOT, Client, Service

FILES = site.documents()
HOME = {"index.html", "index.json"}  # the two forms of /
LOST = "404.html"
# What these hold depends on the build.
WITH_EXAMPLES = {key for key in FILES if key.endswith((".html", "llms.txt"))} | {"docs/search.json"}
REFERENCE = [key for key in FILES if key.startswith("docs/") and key.endswith(".html") and "changelog" not in key]
PAGES = {
    "/": "index.html",
    "/docs": "docs/index.html",
    "/docs/": "docs/index.html",
    "/explore": "explore/index.html",
    "/explore/": "explore/index.html",
    "/explore/scan": "explore/scan/index.html",
    "/explore/scan/": "explore/scan/index.html",
    "/explore/value": "explore/value/index.html",
}
PATHS = PAGES | {f"/{key}": key for key in FILES if key not in {*HOME, LOST}}
POLICY = {
    "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' https: data:",
    "connect-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
    "require-trusted-types-for 'script'", "trusted-types cardpress-worker",
}  # fmt: skip


class Markup(HTMLParser):
    """The elements of a page with their attributes, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def values(self, attribute: str) -> set[str]:
        return {attributes[attribute] for _, attributes in self.elements if attribute in attributes}


@pytest.fixture
def visitor(site_service: Service) -> Client:
    return site_service.client()


@pytest.fixture(scope="module")
def description() -> dict:
    """The strict form, from which the reference is made: nested objects stand where they belong."""
    return json.loads(strict_document())


@pytest.fixture(scope="module")
def reference(site_service: Service) -> Markup:
    client = site_service.client()
    return Markup("".join(client.get(f"/{key}").text for key in REFERENCE))


@pytest.mark.parametrize(("path", "key"), PATHS.items())
def test_every_file_is_sent_without_a_key(visitor: Client, path: str, key: str) -> None:
    answer = visitor.get(path)
    assert answer.status == 200
    assert answer.body == FILES[key] or key in WITH_EXAMPLES
    assert answer["Content-Type"] == MEDIA_TYPES[Path(key).suffix]
    assert answer["Cache-Control"] == "public, max-age=300"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Referrer-Policy"] == "no-referrer"
    assert set(answer["Content-Security-Policy"].split("; ")) == POLICY
    assert answer["X-Build"] and answer["Access-Control-Allow-Origin"] == "*"
    assert answer["X-RateLimit-Limit"] is None
    packed = visitor.get(path, Accept_Encoding="gzip")
    assert packed["Content-Encoding"] == "gzip" and packed.plain == answer.body
    for tag in (answer["ETag"], packed["ETag"]):
        again = visitor.get(path, If_None_Match=tag)
        assert (again.status, again.body) == (304, b"")
        assert again["Content-Security-Policy"] == answer["Content-Security-Policy"]


@pytest.mark.parametrize(
    "path",
    ["/docs/nothing.html", "/docs/index.html/", "/docs//", "/docs/..", "/docs/%2e%2e/openapi.json",
     "/docs/openapi.json", "/explore/index", "/docss", "/docs.html", "/index.html", "/index.json", "/docs/%ff",
     pytest.param("/docs/%00", marks=pytest.mark.shim_only("nginx itself refuses NUL")),
     "/explore/status.json", "/explore/scan/index"],
)  # fmt: skip
def test_what_is_no_file_is_no_path(visitor: Client, path: str) -> None:
    answer = visitor.get(path)
    assert (answer.status, answer.code) == (404, "not_found")
    assert answer["Content-Type"] == "application/json" and answer["Cache-Control"] == "no-store"
    browser = visitor.get(path, Accept="text/html,*/*;q=0.8")
    assert browser.status == 404 and "There is no page at this address" in browser.text
    assert browser["Content-Type"] == "text/html; charset=utf-8" and browser["Cache-Control"] == "no-store"
    assert set(browser["Content-Security-Policy"].split("; ")) == POLICY and browser["ETag"] is None


def test_errors_of_the_api_are_json_for_browsers_too(visitor: Client) -> None:
    for path in ("/api", "/api/v1/nothing", "/api/v1/cards"):
        assert visitor.get(path, Accept="text/html")["Content-Type"] == "application/json"


@pytest.mark.parametrize("method", ["POST", "PUT", "OPTIONS", "DELETE"])
def test_only_get(visitor: Client, method: str) -> None:
    for path in ("/", "/docs"):
        answer = visitor.send(method, path)
        assert (answer.status, answer.code, answer["Allow"]) == (405, "method_not_allowed", "GET, HEAD")


def test_the_query_and_the_name_of_a_build_are_ignored(visitor: Client) -> None:
    live = visitor.get("/docs")["X-Build"]
    assert visitor.get("/docs?v=abc&v=abc&x").status == 200
    for named in ("2020-01-01-000000000000", "nothing", "", live):
        answer = visitor.get("/docs", X_Build=named)
        assert (answer.status, answer["X-Build"]) == (200, live)


@pytest.mark.parametrize("path", ["/docs", "/docs/theme.css", "/explore/"])
def test_head_is_get_without_a_body(visitor: Client, path: str) -> None:
    get, head = visitor.get(path), visitor.send("HEAD", path)
    assert (head.status, head.body) == (200, b"")
    for header in ("Content-Length", "Content-Type", "ETag", "Cache-Control", "Content-Security-Policy"):
        assert head[header] == get[header]
    assert visitor.send("HEAD", "/docs/nothing.html").status == 404


def test_requests_for_pages_are_not_counted(visitor: Client) -> None:
    before = visitor.get("/api/v1/openapi.json")
    for _ in range(130):
        assert visitor.get("/docs/theme.css").status == 200
    after = visitor.get("/api/v1/openapi.json")
    if before["X-RateLimit-Reset"] == after["X-RateLimit-Reset"]:
        assert int(after["X-RateLimit-Remaining"]) == int(before["X-RateLimit-Remaining"]) - 1


def test_export_and_cat(site_store: Path, tmp_path: Path) -> None:
    run("export", tmp_path / "plain", "--store", site_store, "--gzip")
    for key, content in FILES.items():
        assert (tmp_path / "plain" / key).read_bytes() == content or key in WITH_EXAMPLES
        assert (tmp_path / "plain" / f"{key}.gz").exists()
    said = run("cat", "docs/llms.txt", "--store", site_store).stdout
    assert said.encode() == (tmp_path / "plain" / "llms.txt").read_bytes()
    assert {path.name for path in (tmp_path / "plain").iterdir()} == {
        *("api", "docs", "explore", ".cardpress-export.json"),
        *(key + suffix for key in FILES if "/" not in key for suffix in ("", ".gz")),
    }


def test_pages_name_no_other_host_and_hold_no_script_or_style() -> None:
    for key in (key for key in FILES if key.endswith(".html")):
        page = Markup(FILES[key].decode())
        links = {link for tag, given in page.elements for link in (given.get("src"), given.get("href"))
                 if link and tag != "a"}  # fmt: skip
        assert all(link.startswith("/") and not link.startswith("//") for link in links), key
        assert {link.partition("?")[0][1:] for link in links} <= set(FILES)
        for tag, given in page.elements:
            assert tag != "style" and "style" not in given and not any(name.startswith("on") for name in given)
            assert tag != "script" or given["src"]
    for key in (key for key in FILES if key.endswith((".js", ".css"))):
        text = FILES[key].decode()
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|document\.cookie", text)
        assert set(re.findall(r"https?://[^\s\"'`)]+", text)) <= {"http://www.w3.org/2000/svg"}
        assert "@import" not in text and "url(" not in text
        if "const $" not in text:  # a module, not several that were joined
            assert "sessionStorage" not in text or key == "docs/key.js"
            assert "localStorage" not in text or key == "explore/value/kept-list.js"


@pytest.mark.parametrize("path", ["/", "/docs", "/docs/cards.html", "/explore", "/explore/scan", "/explore/value"])
def test_a_page_is_at_most_150_kb_before_images(visitor: Client, path: str) -> None:
    page = Markup(visitor.get(path).text)
    parts = [
        link or "" for name in ("href", "src") for link in page.values(name) if re.search(r"\.(css|js)\?", link or "")
    ]
    parts += ["/explore/scan-worker.js"] if path.endswith("scan") else []
    assert len(parts) >= 3
    sizes = [len(visitor.get(part, Accept_Encoding="gzip").body) for part in (path, *parts)]
    assert sum(sizes) < 150_000


def test_links_inside_the_pages_lead_somewhere(visitor: Client) -> None:
    @cache
    def identifiers_of(key: str) -> set[str]:
        return Markup(FILES[key].decode()).values("id")

    for key in (key for key in FILES if key.endswith(".html")):
        page = Markup(FILES[key].decode())
        identifiers = [given["id"] for _, given in page.elements if "id" in given]
        assert len(set(identifiers)) == len(identifiers), key
        for link in page.values("href"):
            path, _, anchor = link.partition("#")
            if anchor and not anchor.startswith("/"):
                assert anchor in identifiers_of(PATHS[path] if path else key), (key, link)
            if path and not path.startswith("https://"):
                assert path.startswith("/") and visitor.get(path).status == 200, (key, link)


def test_the_reference_says_all_that_the_description_says(description: dict, reference: Markup) -> None:
    identifiers, flat = reference.values("id"), re.sub(r"\s+", " ", reference.text)
    for path, item in description["paths"].items():
        operation = item["get"]
        assert operation["operationId"] in identifiers and path in flat
        for parameter in operation["parameters"]:
            assert parameter["name"] in flat and plain(parameter["description"]) in flat
    for name, schema in description["components"]["schemas"].items():
        assert name in identifiers
        for field, given in schema.get("properties", {}).items():
            assert field in flat and plain(given.get("description", "")) in flat
    codes = description["components"]["schemas"]["Error"]["properties"]["error"]["properties"]["code"]["enum"]
    assert set(codes) <= set(re.findall(r"[a-z_]+", flat))
    for line in description["info"]["description"].splitlines():
        assert not line.startswith("## ") or line[3:] in flat


def plain(markdown: str) -> str:
    return markdown.replace("`", "")


def test_the_changelog_of_the_site_is_about_the_api(visitor: Client) -> None:
    text = " ".join(Markup(visitor.get("/docs/changelog.html").text).text.split())
    changes = (ROOT / "CHANGELOG.md").read_text()
    for version in re.findall(r"^## \[(.+?)\]", changes, re.MULTILINE):
        assert version.replace("Unreleased", "Newest") in text
    for part in re.split(r"^(?=For |#)", changes, flags=re.MULTILINE):
        for change in re.findall(r"^- ([\w ,]{20,})", part, re.MULTILINE):
            assert (change.strip() in text) == part.startswith("For clients of the API:\n"), change


def test_llms_txt_stands_where_programs_look(visitor: Client) -> None:
    assert visitor.get("/llms.txt").text == visitor.get("/docs/llms.txt").text
    assert "Disallow: /api/" in visitor.get("/robots.txt").text


def test_llms_txt_names_everything(description: dict, visitor: Client, recorded: Recorded) -> None:
    text = visitor.get("/docs/llms.txt").text
    assert text.startswith("# ") and text.splitlines()[2].startswith("> ")
    for path, item in description["paths"].items():
        assert f"GET {path}\n" in text
        assert all(f"`{parameter['name']}`" in text for parameter in item["get"]["parameters"])
    assert all(f"### {name}\n" in text for name in description["components"]["schemas"])
    assert "&amp;" not in text and "&#" not in text
    copy, text = ROOT / "docs" / "llms.txt", FILES["docs/llms.txt"].decode()
    if not recorded.write(copy, text):
        assert copy.read_text("utf-8") == text, "docs/llms.txt is old: run make golden"


def with_tables(page: str) -> str:
    """Return docs/api.md with its tables of scopes and errors as the code declares them."""
    for head, *rows in tables():
        table = [f"| {' | '.join(cells)} |\n" for cells in (head, *rows)]
        before, old, rest = page.partition(table[0])
        assert old, f"docs/api.md has a table with the columns {', '.join(head)}"
        table.insert(1, "|---" * len(head) + "|\n")
        page = before + "".join(table) + re.sub(r"\A(?:\|.*\n)*", "", rest)
    return page


def tables() -> Iterator[list[tuple[str, ...]]]:
    """Yield the rows of each table, its head first."""
    scopes: dict[str | None, list[str]] = {scope: [] for scope in (*SCOPES, None)}
    for endpoint in ENDPOINTS:
        if not endpoint.public:
            scopes[endpoint.scope].append(endpoint.path)
    reads = [(f"`{scope}`" if scope else "none", as_code(paths)) for scope, paths in scopes.items()]
    errors = [(str(error.status), f"`{error.code}`", error.when, error.advice) for error in API_ERRORS]
    yield [("scope", "reads"), *reads]
    yield [("status", "code", "when", "what to do"), *errors]


def as_code(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def test_docs_api_md_is_the_guide(description: dict, recorded: Recorded) -> None:
    file = ROOT / "docs" / "api.md"
    text = with_tables(file.read_text("utf-8"))
    if recorded.write(file, text):
        return  # the description was made from the file as it was
    assert file.read_text("utf-8") == text, "docs/api.md is old: run make golden"
    assert description["info"]["description"].strip() in text
    assert len(text.split()) < 2_250, "docs/api.md is to be read at a sitting"


ADDRESS = re.compile(r"\]\((/(?:docs|explore)[^)#\s]*)(?:#([^)\s]+))?\)")


def test_links_of_documents_to_the_site_lead_to_their_places(visitor: Client) -> None:
    texts = [*ROOT.glob("docs/*.md"), ROOT / "README.md", *ROOT.glob("generator/site/*.md")]
    links = {found.groups() for path in texts for found in ADDRESS.finditer(path.read_text("utf-8"))}
    assert links
    for path, anchor in sorted(links, key=str):
        answer = visitor.get(path)
        assert answer.status == 200, path
        assert anchor is None or path.startswith("/explore") or f'id="{anchor}"' in answer.text, f"{path}#{anchor}"
