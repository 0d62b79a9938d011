"""The filesystem of a directory: its type, from the mount table (statfs does not tell), and a sync of all of it."""

from __future__ import annotations

import os
import sys
from functools import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_REPORTS_ERRORS = (5, 8)  # the first Linux whose syncfs reports data that could not be written

_NETWORK = frozenset((
    "nfs", "nfs4", "cifs", "smb", "smb2", "smb3", "smbfs", "ncpfs", "afs", "ceph", "glusterfs", "lustre",
    "beegfs", "gpfs", "ocfs2", "gfs2", "9p", "vboxsf", "vmhgfs", "prl_fs", "drvfs", "davfs", "coda",
    "orangefs", "fuse.sshfs", "fuse.rclone", "fuse.s3fs", "fuse.gcsfuse", "fuse.glusterfs", "fuse.davfs2",
    "fuse.vmhgfs-fuse", "fuse.juicefs", "fuse.curlftpfs", "fuse.onedriver", "fuse.google-drive-ocamlfuse",
    "fuse.portal",
))  # fmt: skip


def find_network_filesystem(directory: str, mounts: str = "/proc/self/mounts") -> str | None:
    """Return the type of a directory's network filesystem, or None if it is local."""
    kind = _find_filesystem_type(os.path.realpath(directory), mounts)
    return kind if kind in _NETWORK else None


def _find_filesystem_type(directory: str, mounts: str) -> str | None:
    try:
        with open(mounts, encoding="utf-8", errors="surrogateescape") as table:
            lines = table.read().splitlines()
    except OSError:  # no mount table on this system: assume local
        return None
    deepest, kind = "", None
    for line in lines:
        _, mount_point, filesystem, *_ = line.split(" ")
        mount_point = _unescape_mount_point(mount_point)
        # A later mount on the same point hides an earlier one.
        if len(mount_point) >= len(deepest) and _is_within(directory, mount_point):
            deepest, kind = mount_point, filesystem
    return kind


def _is_within(directory: str, mount_point: str) -> bool:
    return mount_point in ("/", directory) or directory.startswith(mount_point + "/")


def _unescape_mount_point(mount_point: str) -> str:
    for code, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        mount_point = mount_point.replace(code, character)
    return mount_point


def sync_filesystem(directory: str) -> bool:
    """Write everything on the filesystem of a directory to disk; return False where the system cannot do that."""
    library = _load_libc()
    if library is None:
        return False
    import ctypes

    descriptor = os.open(directory, os.O_RDONLY)
    try:
        if library.syncfs(descriptor) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number), directory)
    finally:
        os.close(descriptor)
    return True


@cache
def _load_libc() -> Any:
    """Return the C library if its syncfs can be relied on."""
    if sys.platform != "linux" or _get_kernel_version() < _REPORTS_ERRORS:
        return None
    import ctypes

    library = ctypes.CDLL(None, use_errno=True)
    return library if hasattr(library, "syncfs") else None


def _get_kernel_version() -> tuple[int, ...]:
    return tuple(int(part) for part in os.uname().release.split("-")[0].split(".")[:2] if part.isdigit())
