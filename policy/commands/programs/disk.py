"""Programs that write to devices or make file systems."""

from policy.commands.program import Program, refused, table
from policy.rules import Rule

PROGRAMS: dict[str, Program] = {
    **table(
        "mkfs mkfs.ext2 mkfs.ext3 mkfs.ext4 mkfs.xfs mkfs.btrfs mkfs.vfat mkfs.fat mkfs.ntfs mke2fs mkswap fdisk "
        "cfdisk gdisk parted "
        "fsck e2fsck tune2fs resize2fs debugfs badblocks ddrescue partx partprobe xfs_repair",
        refused(Rule.FILE_DESTROYS),
    ),
}
