"""What holds for the way out of every sandbox here: the policy file, the list of malicious domains, the authority."""

from activities.policy_source import PolicyFile
from contracts.kill import Brake
from policy.passage import closing
from policy.roles import Policy
from runtime.keys import Keyring, SealBroken, UnknownKey
from runtime.paths import DataPaths
from runtime.process import CannotStart
from runtime.settings import Settings
from sandbox.authority import Authority, AuthorityUnusable
from sandbox.blocklist import BlocklistBroken, BlocklistFile
from sandbox.house import HouseRules
from sandbox.inspection import Inspection
from sandbox.metering import Meters


def house_of(
    settings: Settings, paths: DataPaths, keyring: Keyring, policy: PolicyFile[Policy], brake: Brake
) -> HouseRules:
    """Rules that follow the files as they change. It reads them, so call it off the event loop. Raises: CannotStart."""
    try:
        authority = Authority.load(paths.egress, keyring)
        blocklist = BlocklistFile(settings.egress_blocklist) if settings.egress_blocklist else None
    except (AuthorityUnusable, BlocklistBroken) as error:
        raise CannotStart(str(error)) from error
    except (SealBroken, UnknownKey) as error:
        remedy = "restore the key file, or remove the folder: a new authority is made"
        raise CannotStart(f"the certificate authority in {paths.egress} does not open ({error}); {remedy}") from error
    except OSError as error:
        raise CannotStart(f"cannot read {error.filename}: {error.strerror}; check ASOS_EGRESS_BLOCKLIST") from error
    return HouseRules(
        rules=lambda: policy.current().egress,
        blocklist=blocklist,
        inspection=Inspection(authority),
        meters=Meters(paths.egress / "traffic"),
        closes=lambda role, host, path: _closing(policy, role, host, path),
        brake=brake,
    )


def _closing(policy: PolicyFile[Policy], role: str, host: str, path: str | None) -> str | None:
    pattern = closing(policy.current(), role, host, path)
    return None if pattern is None else pattern.text
