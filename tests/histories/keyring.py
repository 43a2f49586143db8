"""The keyring that sealed the recorded histories. It lies beside them in the open, and protects nothing."""

from functools import cache
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory

from runtime.keys import Keyring
from runtime.paths import DataPaths

FILE = Path(__file__).with_name("test_only_keyring.json")


@cache
def fixed_keyring() -> Keyring:
    """Loaded from a private copy, since a checkout is readable by others and such a key file is refused."""
    with TemporaryDirectory() as folder:
        install_keyring(Path(folder))
        return Keyring.load(Path(folder))


def install_keyring(data_dir: Path) -> None:
    """Give a data folder this keyring, so that its commands can read the recorded histories."""
    path = DataPaths(data_dir).keyring
    path.parent.mkdir(mode=0o700, parents=True)
    copyfile(FILE, path)
    path.chmod(0o600)
