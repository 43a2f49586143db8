"""Names of variables that likely hold a secret."""

import re

_SECRET = re.compile(
    r"SECRET|TOKEN|PASSWORD|PASSWD|PASSPHRASE|API_?KEY|PRIVATE_?KEY|ACCESS_?KEY|CREDENTIAL|_KEY$|_PAT$", re.IGNORECASE
)


def is_secret_name(name: str) -> bool:
    return _SECRET.search(name) is not None
