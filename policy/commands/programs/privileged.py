"""Programs that gain rights, enter other places, or change the machine: an agent has no business with them."""

from policy.commands.program import Program, refused, table
from policy.rules import Rule

PROGRAMS: dict[str, Program] = {
    **table(
        "sudo sudoedit su doas pkexec runuser setpriv newgrp sg capsh setcap getcap chroot unshare nsenter mount "
        "umount fusermount "
        "fusermount3 pivot_root switch_root visudo vipw dzdo machinectl gosu su-exec tini-static bwrap firejail "
        "newuidmap newgidmap",
        refused(Rule.COMMAND_PRIVILEGE),
    ),
    **table(
        "docker docker-compose podman nerdctl ctr crictl runc crun runsc kubectl helm k3s minikube lxc "
        "lxc-attach lxc-start virsh "
        "qemu-system-x86_64 qemu-system-aarch64 vagrant buildah skopeo containerd dockerd kubelet systemd-nspawn "
        "VBoxManage",
        refused(Rule.COMMAND_PRIVILEGE),
    ),
    **table(
        "insmod modprobe rmmod kexec swapon swapoff losetup shutdown reboot halt poweroff init telinit systemctl "
        "service rc-service "
        "initctl bpftool hwclock setterm chvt openvt ifup ifdown brctl ethtool tc wipefs blkdiscard cryptsetup "
        "dmsetup lvm "
        "pvcreate vgcreate lvcreate mdadm zpool zfs btrfs grub-install efibootmgr flashrom nvme hdparm sgdisk sfdisk",
        refused(Rule.COMMAND_PRIVILEGE),
    ),
}
