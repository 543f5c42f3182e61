import os
import time

import requests


def get(session, url, params, headers):
    """Send a GET request. Wait and try again after 429 and 500; raise for every other error."""
    for _ in range(5):
        answer = session.get(url, params=params, headers=headers, timeout=30)
        if answer.status_code not in (429, 500):
            break
        time.sleep(int(answer.headers.get("Retry-After", 5)))
    if answer.status_code >= 400:
        error = answer.json()["error"]
        raise RuntimeError(f"{error['code']}: {error['message']}")
    return answer


def crawl(session, url, **params):
    """Yield every item of a list."""
    headers, offset = {}, 0
    while offset is not None:
        answer = get(session, url, params | {"offset": offset}, headers)
        headers["X-Build"] = answer.headers["X-Build"]
        page = answer.json()
        yield from page["data"]
        offset = page["pagination"]["next_offset"]


session = requests.Session()
session.headers["Authorization"] = f"Bearer {os.environ['KEY']}"
for card in crawl(session, os.environ["CARDS"] + "/api/v1/cards", kind="sealed", limit=100):
    print(card["id_product"], card["name"])
