"""What opens the sandboxes of an installation's hosts to its owner: a token that nobody has to store."""

from runtime.keys import Keyring

PURPOSE = b"asos host api v1"


def host_token(keyring: Keyring) -> str:
    """The same for every process that may read the keyring, and for nobody else."""
    return keyring.derived_naming(PURPOSE).hex()
