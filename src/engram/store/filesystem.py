"""Which filesystem a directory lies on, read from the mount table (statfs does not tell)."""

from __future__ import annotations

import os

_NETWORK = frozenset((
    "nfs", "nfs4", "cifs", "smb", "smb2", "smb3", "smbfs", "ncpfs", "afs", "ceph", "glusterfs", "lustre",
    "beegfs", "gpfs", "ocfs2", "gfs2", "9p", "vboxsf", "vmhgfs", "prl_fs", "drvfs", "davfs", "coda",
    "orangefs", "fuse.sshfs", "fuse.rclone", "fuse.s3fs", "fuse.gcsfuse", "fuse.glusterfs", "fuse.davfs2",
    "fuse.vmhgfs-fuse", "fuse.juicefs", "fuse.curlftpfs", "fuse.onedriver", "fuse.google-drive-ocamlfuse",
    "fuse.portal",
))  # fmt: skip


def network_kind(directory: str, mounts: str = "/proc/self/mounts") -> str | None:
    """Return the type of network filesystem a directory lies on, if it does."""
    kind = _kind(os.path.realpath(directory), mounts)
    return kind if kind in _NETWORK else None


def _kind(directory: str, mounts: str) -> str | None:
    try:
        with open(mounts, encoding="utf-8", errors="surrogateescape") as table:
            lines = table.read().splitlines()
    except OSError:  # no mount table here: nothing to refuse on
        return None
    best, kind = "", None
    for line in lines:
        _, point, found, *_ = line.split(" ")
        point = _unescape(point)
        # A later mount on the same point hides an earlier one.
        if len(point) >= len(best) and _within(directory, point):
            best, kind = point, found
    return kind


def _within(directory: str, point: str) -> bool:
    return point in ("/", directory) or directory.startswith(point + "/")


def _unescape(point: str) -> str:
    for code, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        point = point.replace(code, character)
    return point
