"""Which files hold secrets, which make code run later, and which belong to the system."""

from policy.globs import is_glob, overlaps, segments
from policy.setting import SANDBOX

Pattern = tuple[str, ...]


def _patterns(text: str) -> tuple[Pattern, ...]:
    home = SANDBOX.home.removeprefix("/")
    return tuple(segments(line.replace("~", home, 1)) for line in text.split())


SECRETS = _patterns("""
    ~/.ssh/** /home/*/.ssh/** /root/** ~/.gnupg/** ~/.aws/** ~/.azure/** ~/.kube/** ~/.config/gcloud/** ~/.oci/**
    ~/.docker/** ~/.config/gh/** ~/.config/hub ~/.config/rclone/** ~/.config/op/** ~/.terraform.d/** ~/.netrc
    ~/.git-credentials ~/.config/git/credentials ~/.npmrc ~/.pypirc ~/.pgpass ~/.my.cnf ~/.vault-token
    ~/.password-store/**
    ~/.local/share/keyrings/** ~/.mozilla/** ~/.config/chromium/** ~/.config/google-chrome/** ~/.thunderbird/**
    ~/.*_history ~/.cargo/credentials* ~/.gem/credentials ~/.s3cfg ~/.boto ~/.claude/** ~/.codex/**
    ~/.cache/huggingface/token
    /etc/shadow* /etc/gshadow* /etc/sudoers* /etc/sudoers.d/** /etc/ssh/ssh_host_* /etc/ssl/private/**
    /etc/security/opasswd
    /etc/krb5.keytab /etc/wireguard/** /etc/NetworkManager/** /var/lib/docker/** /run/secrets/** /var/run/secrets/**
    /proc/*/environ /proc/*/mem /proc/*/root/** /proc/*/cwd/** /proc/*/fd/** /proc/*/task/** /proc/*/auxv /proc/*/maps
    /proc/1/** /proc/kcore /proc/kmsg /proc/kallsyms /proc/keys /dev/mem /dev/kmem /dev/port /dev/kmsg /dev/sd* /dev/vd*
    /dev/nvme* /dev/xvd* /dev/dm-* /dev/loop* /dev/fuse /dev/kvm /dev/vsock /dev/input/** /sys/kernel/**
    /sys/firmware/**
    /run/docker.sock /var/run/docker.sock /run/containerd/** /run/user/** /var/spool/cron/** /var/log/auth*
""")
"""Never read, listed or written, whoever asks."""

PUBLIC_KEYS = _patterns("~/.ssh/*.pub ~/.ssh/known_hosts /etc/ssh/ssh_host_*.pub")

CREDENTIALS = _patterns("""
    /**/.env /**/.env.* /**/*.key /**/id_rsa /**/id_dsa /**/id_ecdsa /**/id_ed25519 /**/credentials /**/credentials.*
    /**/.netrc /**/.npmrc /**/.pypirc /**/.git-credentials /**/secrets.* /**/.secrets /**/secrets/** /**/*.keytab
    /**/*.p12
    /**/*.pfx /**/*.kdbx /**/*.jks /**/service-account*.json /**/.htpasswd /**/*private*.pem /**/*privkey* /**/*-key.pem
    /**/.pgpass /**/.ssh/** /**/.aws/** /**/.gnupg/**
""")
"""Likely holds a secret of the person's own work."""

NAMED_CREDENTIALS = tuple(pattern for pattern in CREDENTIALS if not is_glob(pattern[-1]))
"""Those with a fixed name, for comparing with wildcards."""

HARMLESS_CREDENTIALS = _patterns("/**/.env.example /**/.env.sample /**/.env.template /**/.env.dist /**/*.pub")

RUNS_LATER = _patterns("""
    /**/.git/hooks/** /**/.git/config /**/.git/modules/** /**/.git/info/attributes /**/.envrc /**/.husky/**
    /**/.vscode/**
    /**/sitecustomize.py /**/usercustomize.py /**/*.pth /**/.githooks/** /**/.bashrc /**/.profile /**/.npmrc
    /**/.yarnrc*
    /**/.vimrc /**/.exrc /**/.gdbinit /**/.lldbinit /**/.idea/** /**/.devcontainer/** /**/.claude/** /**/.mcp.json
""")
"""In the workspace, but run by other programs without anybody calling them."""

STARTUP = _patterns("""
    ~/.bash* ~/.profile ~/.zsh* ~/.zprofile ~/.zlogin ~/.kshrc ~/.login ~/.cshrc ~/.tcshrc ~/.inputrc ~/.config/fish/**
    ~/.config/autostart/** ~/.config/systemd/** ~/.config/environment.d/** ~/.xinitrc ~/.xprofile ~/.xsession*
    ~/.pam_environment
    ~/.gitconfig ~/.config/git/** ~/.vimrc ~/.vim/** ~/.config/nvim/** ~/.emacs* ~/.pythonrc* ~/.config/pip/** ~/.pip/**
    ~/.npmrc ~/.curlrc ~/.wgetrc ~/.tmux.conf ~/.screenrc ~/.gdbinit ~/.config/gdb/** ~/.psqlrc ~/.sqliterc
    ~/.lesskey ~/.lessfilter
    ~/.local/bin/** ~/bin/** ~/.local/lib/** ~/.cargo/** ~/.ssh/** ~/.gnupg/** ~/.config/direnv/** ~/.mailcap ~/.crontab
    ~/.tarrc ~/.irbrc ~/.Rprofile ~/.ackrc ~/.m2/** ~/.gradle/** ~/.config/htop/** ~/.local/share/applications/**
""")
"""Run at the next login, shell or program start."""

SYSTEM = frozenset(
    "/" + name
    for name in [
        "bin",
        "boot",
        "dev",
        "etc",
        "inet",
        "lib",
        "lib32",
        "lib64",
        "libx32",
        "proc",
        "root",
        "run",
        "sbin",
        "sys",
        "usr",
        "var",
    ]
)
"""Not the agent's to write."""

DEVICES = frozenset(
    ("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/fd/1", "/dev/fd/2", "/dev/zero", "/dev/full")
)
"""May be written: nothing of it stays."""

PUBLIC = _patterns("""
    /bin/** /lib/** /lib32/** /lib64/** /sbin/** /usr/** /opt/** /etc/** /proc/cpuinfo /proc/meminfo /proc/version
    /proc/uptime
    /proc/loadavg /proc/stat /proc/filesystems /proc/mounts /proc/partitions /proc/diskstats /proc/net/** /proc/sys/**
    /proc/self/status /proc/self/limits /proc/self/stat /proc/self/mounts /proc/self/mountinfo /proc/self/cgroup
    /proc/vmstat
    /proc/devices /proc/modules /proc/cmdline /proc/self/comm /proc/self/fd/0 /sys/fs/cgroup/** /sys/devices/**
    /sys/class/**
    /dev/null /dev/zero /dev/full /dev/random /dev/urandom /dev/stdin /dev/stdout /dev/stderr /dev/tty /dev/fd/*
""")
"""What the image ships and the kernel tells everybody: readable under any role."""

PRIVATE = _patterns("/etc/passwd* /etc/group* /etc/fstab /etc/crypttab /etc/hosts.equiv /etc/cron*/** /etc/crontab")
"""Of the public ones, not without a question."""


def matches(patterns: tuple[Pattern, ...], path: str) -> bool:
    """Whether something that the path stands for may be among these."""
    parts = segments(path)
    return any(overlaps(pattern, parts) for pattern in patterns)


def is_device(path: str) -> bool:
    """Whether it may be written because nothing of it stays."""
    return path in DEVICES or (path.startswith("/dev/fd/") and path[8:].isdigit())
