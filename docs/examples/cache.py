import json
import os
from pathlib import Path

import requests

file = Path("fingerprints.json")
saved = json.loads(file.read_text()) if file.exists() else {"etag": ""}
answer = requests.get(
    os.environ["CARDS"] + "/api/v1/fingerprints",
    headers={"Authorization": f"Bearer {os.environ['KEY']}", "If-None-Match": saved["etag"]},
    timeout=30,
)
answer.raise_for_status()
if answer.status_code == 200:  # a 304 has no body: the saved index is current
    saved = {"etag": answer.headers["ETag"], "index": answer.json()}
    file.write_text(json.dumps(saved))
print(answer.status_code, saved["index"]["version"], saved["index"]["count"])
