"""Read the remote of a repository and name it the same however it is written. Reads files only; git is not run."""

from __future__ import annotations

import os

_LARGEST = 1 << 20  # characters of a configuration file
_OTHER_PORTS = {
    "ssh.github.com": "github.com", "altssh.bitbucket.org": "bitbucket.org", "altssh.gitlab.com": "gitlab.com",
}  # fmt: skip


def read_remote_url(root: str) -> str:
    """Return the address of `origin`, or of the only other remote; "" if there is none."""
    urls = _read_remote_urls(os.path.join(find_git_directory(root), "config"))
    return urls.get("origin") or (next(iter(urls.values())) if len(urls) == 1 else "")


def find_git_directory(root: str) -> str:
    """Return the directory with the configuration of a checkout, which its worktrees share."""
    marker = os.path.join(root, ".git")
    if os.path.isdir(marker):
        return marker
    pointer = _read_text(marker, 8192)
    if not pointer.startswith("gitdir:"):
        return root  # a bare repository, or none
    directory = os.path.join(root, pointer.removeprefix("gitdir:").strip())
    return os.path.join(directory, _read_text(os.path.join(directory, "commondir"), 8192).strip())


def normalize_remote(url: str) -> str:
    """Return host/owner/name in lower case, without user, password and port; "" for a path on this machine."""
    host, path = _split_address(url.strip())
    parts = [part for part in path.partition("?")[0].replace("\\", "/").split("/") if part not in ("", "~")]
    name = "/".join(parts).removesuffix(".git").casefold()
    return f"{_OTHER_PORTS.get(host, host)}/{name}" if host and name else ""


def _split_address(address: str) -> tuple[str, str]:
    """Return the host and the path of an address; no host for a path on this machine."""
    scheme, is_url, rest = address.partition("://")
    if is_url:
        authority, _, path = rest.partition("/")
        host = authority.rpartition("@")[2]
        name = host.partition("]")[0] + "]" if host.startswith("[") else host.partition(":")[0]
        return ("" if scheme.casefold() == "file" else name.casefold()), path
    authority, colon, path = address.partition(":")  # git@host:owner/name; one letter is a drive of Windows
    host = authority.rpartition("@")[2]
    is_remote = colon and len(host) > 1 and "/" not in authority and "\\" not in authority
    return (host.casefold() if is_remote else ""), path


def get_local_path(url: str, root: str) -> str:
    """Return the directory that an address on this machine means; "" if it means another machine."""
    address = url.strip()
    if not address or normalize_remote(address):
        return ""
    path = address.removeprefix("file://")
    return os.path.realpath(os.path.join(root, os.path.expanduser(path)))


def _read_remote_urls(config: str) -> dict[str, str]:
    """Return the first address of each remote in a configuration file."""
    urls: dict[str, str] = {}
    remote = ""
    for line in _read_text(config, _LARGEST).splitlines():
        if line.lstrip().startswith("["):
            kind, _, name = line.strip().strip("[]").partition(" ")
            remote = name.strip().strip('"') if kind.casefold() == "remote" else ""
        key, equals, url = line.partition("=")
        if remote and equals and key.strip().casefold() == "url":
            urls.setdefault(remote, url.strip().strip('"'))
    return urls


def _read_text(path: str, limit: int) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(limit)
    except OSError:
        return ""
