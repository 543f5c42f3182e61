"""The product behind its own nginx, which checks the key, counts the limit and answers from its cache."""

import shlex
import shutil

from bench.data import cardpress
from bench.peers.ours import Ours


class EdgePeer(Ours):
    """`cardpress serve --socket` behind the nginx of `cardpress edge config`, with one worker each."""

    name = "cardpress behind nginx"
    offers = frozenset({"page"})

    def lacks(self) -> str | None:
        found = shutil.which("nginx")
        return None if found else "apt-get install nginx libnginx-mod-http-lua lua-resty-core lua-cjson"

    def command(self, port: int) -> list[str]:
        folder = self.data.state
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "nginx").mkdir(parents=True)
        places = ("--store", self.data.store, "--state", folder / "state", "--socket", folder / "shim")
        config = cardpress("edge", "config", *places, "--folder", folder / "nginx", "--listen", f"127.0.0.1:{port}")
        shim = cardpress("serve", *places, "--workers", self.workers)
        file = shlex.quote(str(folder / "nginx.conf"))
        script = f"{shlex.join(shim)} & {shlex.join([*config, '--workers', '1'])} > {file} && nginx -c {file}"
        return ["sh", "-c", script]
