"""This machine: the cores for server and load, the CPU and memory of processes, and a description."""

import os
import platform
import re
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

_CORES = sorted(os.sched_getaffinity(0))
SERVER_CORE, LOAD_CORE = _CORES[0], _CORES[-1]
_TICKS = os.sysconf("SC_CLK_TCK")
_LIBRARIES = ("flask", "granian", "duckdb", "pyarrow", "numpy", "isal")


def pinned(core: int, command: list[str]) -> list[str]:
    """Return the command, limited to one core."""
    return ["taskset", "-c", str(core), *command]


def process_tree(root: int) -> list[int]:
    """Return the ids of a process and all its descendants."""
    parents: dict[int, int] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            stat = _stat(int(folder.name))
            if stat:
                parents[int(folder.name)] = int(stat[1])
    found = [root]
    for pid in found:
        found += [child for child, parent in parents.items() if parent == pid]
    return found


def cpu_seconds(root: int) -> float:
    """Return the CPU seconds used by a process and its descendants, also those that ended."""
    stats = [_stat(pid) for pid in process_tree(root)]
    return sum(int(tick) for stat in stats if stat for tick in stat[11:15]) / _TICKS


def memory_mb(root: int, field: str = "Pss") -> float:
    """Return the memory of a process and its descendants in MB; a shared page counts in parts (Pss)."""
    kilobytes = 0
    for pid in process_tree(root):
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
        kilobytes += sum(int(size) for size in re.findall(rf"^{field}: +(\d+) kB", text, re.MULTILINE))
    return kilobytes * 1024 / 1e6


def drop_from_page_cache(folder: Path) -> None:
    """Drop the files of a folder from the page cache, except for pages that a process has mapped."""
    for path in folder.rglob("*"):
        if path.is_file():
            descriptor = os.open(path, os.O_RDONLY)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(descriptor)


def description() -> dict[str, str]:
    """Return a description of this machine in a few lines, by name."""
    cpu = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    memory = re.search(r"MemTotal: +(\d+)", Path("/proc/meminfo").read_text())
    return {
        "processor": f"{cpu[1] if cpu else platform.machine()}, {len(_CORES)} cores",
        "memory": f"{int(memory[1]) / 1e6:.0f} GB" if memory else "unknown",
        "system": f"{platform.system()} {platform.release()}, Python {platform.python_version()}",
        "libraries": ", ".join(f"{name} {_version(name)}" for name in _LIBRARIES),
        "load before": " ".join(f"{load:.1f}" for load in os.getloadavg()),
    }


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "absent"


def _stat(pid: int) -> list[str] | None:
    """Return the fields of /proc/<pid>/stat from the state on, or None if the process has ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
