# The worker on workerd: `workerd serve workerd.capnp`. TLS and the address of clients are up to a proxy in front.
using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "worker", worker = .worker),
    # The worker alone reads the store, and sends nothing of it but objects below tree/.
    (name = "store", disk = "/srv/cards/store"),
    (name = "shim", external = (address = "127.0.0.1:8000", http = ())),
    (name = "counts", disk = (path = "/var/lib/cardpress-worker", writable = true)),
  ],
  sockets = [(name = "http", address = "127.0.0.1:8080", http = (), service = "worker")],
);

const worker :Workerd.Worker = (
  modules = [
    (name = "worker.js", esModule = embed "worker.js"),
    (name = "tables.json", json = embed "tables.json"),
  ],
  compatibilityDate = "2026-11-01",
  bindings = [
    (name = "STORE", service = "store"),
    (name = "STORE_AT", text = "http://store/"),
    (name = "SHIM", service = "shim"),
    (name = "SHIM_AT", text = "http://127.0.0.1:8000"),
    (name = "WORKER_SECRET", fromEnvironment = "CARDPRESS_WORKER_SECRET"),
    (name = "GUEST_LIMIT", text = "0"),
    # The header in which the proxy in front, and no client, writes the address of a client.
    (name = "ADDRESS_HEADER", text = "X-Real-IP"),
    (name = "COUNTERS", durableObjectNamespace = "Counter"),
  ],
  durableObjectNamespaces = [(className = "Counter", uniqueKey = "cardpress-counts", enableSql = true)],
  durableObjectStorage = (localDisk = "counts"),
);
