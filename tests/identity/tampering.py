"""Change one byte of a stored vault, or exchange its rows, and see whether anybody is given something else."""

import random
import sqlite3
from collections import Counter
from pathlib import Path

from contracts.identity import NoSuchSecret, SecretName, VaultDamaged, VaultLocked, VaultUnusable
from tests.identity.vaults import Place, plain

NOTICED = (VaultDamaged, VaultLocked, VaultUnusable)


async def outcome(place: Place, secrets: dict[SecretName, bytes]) -> str:
    """`noticed` by an error, `the same` for every secret, or `undetected`."""
    try:
        async with place.open() as vault:
            if await vault.profile_ids() != sorted({name.profile_id for name in secrets}):
                return "undetected"
            same = [await plain(vault, name) == secret for name, secret in secrets.items()]
    except NOTICED:
        return "noticed"
    except NoSuchSecret:
        return "undetected"
    return "the same" if all(same) else "undetected"


async def flip(place: Place, path: Path, secrets: dict[SecretName, bytes], count: int, seed: int) -> Counter[str]:
    """One byte after the other, each put back before the next."""
    chance, found = random.Random(seed), Counter[str]()  # noqa: S311  a storm that can be had again
    files = [each for each in (path, path.with_name(f"{path.name}-wal")) if each.exists()]
    whole = {each: each.read_bytes() for each in files}
    for _ in range(count):
        chosen = chance.choice([each for each in files if whole[each]])
        changed = bytearray(whole[chosen])
        changed[chance.randrange(len(changed))] ^= chance.randrange(1, 256)
        chosen.write_bytes(changed)
        found[await outcome(place, secrets)] += 1
        for each in path.parent.glob(f"{path.name}*"):
            each.unlink()
        for each, content in whole.items():
            each.write_bytes(content)
    return found


async def swap(place: Place, path: Path, secrets: dict[SecretName, bytes], count: int, seed: int) -> Counter[str]:
    """Exchange the contents of two boxes, put an older one in place of a newer, or take one away."""
    chance, found = random.Random(seed), Counter[str]()  # noqa: S311  a storm that can be had again
    for _ in range(count):
        connection = sqlite3.connect(path)
        rows = dict(connection.execute("SELECT box_id, content FROM boxes").fetchall())
        one, other = chance.sample(sorted(rows), 2)
        change = chance.choice(["exchange", "copy", "remove"])
        if change == "remove":
            connection.execute("DELETE FROM boxes WHERE box_id = ?", (one,))
        else:
            connection.execute("UPDATE boxes SET content = ? WHERE box_id = ?", (rows[other], one))
        if change == "exchange":
            connection.execute("UPDATE boxes SET content = ? WHERE box_id = ?", (rows[one], other))
        connection.commit()
        found[await outcome(place, secrets)] += 1
        connection.executemany("INSERT OR REPLACE INTO boxes VALUES (?, ?)", rows.items())
        connection.commit()
        connection.close()
    return found
