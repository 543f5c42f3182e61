# cardpress from this checkout. Without a command it serves a demo: invented cards, and a link that it prints.
#
#   docker build -t cardpress . && docker run -p 8000:8000 cardpress
#
# podman keeps the health check with `podman build --format docker`. Another port, which the link then names:
# `docker run -e CARDPRESS_PORT=9000 -p 9000:9000 cardpress`.
#
# It writes below /var/lib/cardpress alone: with `--read-only -v cards:/var/lib/cardpress` nothing else can be written. Any
# command of cardpress may follow: `docker run cardpress cardpress --help`. `cardpress deploy container` writes what serves
# a lake of your own.
#
# The base image is pinned by its digest, since a tag may be moved. The image was not pulled when this file was written.
# Build with `--build-arg PYTHON_IMAGE=IMAGE:TAG@sha256:…` to take another one.
ARG PYTHON_IMAGE=docker.io/library/python:3.11-slim-bookworm@sha256:b18992999dbe963a45a8a4da40ac2b1975be1a776d939d098c647482bcad5cba

FROM ${PYTHON_IMAGE} AS build
WORKDIR /src
RUN python -m venv /opt/cardpress
COPY requirements.lock ./
RUN /opt/cardpress/bin/pip install --no-cache-dir --disable-pip-version-check --require-hashes -r requirements.lock
COPY pyproject.toml README.md CHANGELOG.md ./
COPY build/ build/
COPY docs/ docs/
COPY edge_auth/ edge_auth/
COPY generator/ generator/
RUN /opt/cardpress/bin/pip install --no-cache-dir --disable-pip-version-check --no-deps --no-build-isolation .

FROM ${PYTHON_IMAGE}
RUN useradd --uid 10001 --user-group --create-home --home-dir /var/lib/cardpress cardpress
COPY --from=build /opt/cardpress/ /opt/cardpress/
ENV PATH=/opt/cardpress/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    CARDPRESS_HOST=0.0.0.0 \
    CARDPRESS_PORT=8000 \
    CARDPRESS_STATE=/var/lib/cardpress/state \
    XDG_CACHE_HOME=/var/lib/cardpress/cache \
    TMPDIR=/var/lib/cardpress
WORKDIR /var/lib/cardpress
VOLUME /var/lib/cardpress
USER 10001:10001
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
    CMD ["sh", "-c", "python -c \"from urllib.request import urlopen; urlopen('http://127.0.0.1:$CARDPRESS_PORT/healthz', timeout=4)\""]
# The key is written last: what was begun without it is made again. The shell ends at once when it is told to.
CMD ["sh", "-euc", "\
    trap 'exit 143' TERM INT; \
    quietly() { \"$@\" > log 2>&1 & wait $! || { cat log >&2; exit 1; }; }; \
    if ! test -s key; then \
        echo 'Writing invented cards and building them: about half a minute, once'; \
        rm -rf lake; \
        quietly cardpress demo lake; \
        quietly cardpress build --lake lake --publish; \
        quietly cardpress keys issue --name demo --reuse key; \
    fi; \
    printf '\\nOpen this link, which holds your key:\\n\\n  http://127.0.0.1:%s/explore#key=%s\\n\\n' $CARDPRESS_PORT $(cat key); \
    exec cardpress serve"]
