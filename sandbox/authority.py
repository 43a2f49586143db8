"""The certificate authority of this installation: it vouches for inspected hosts towards our own sandboxes alone."""

import ipaddress
import os
import secrets
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Protocol, Self

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

NAME = "authority.sealed"
PLACE = b"egress authority"
"""What the key is sealed for: the box opens nowhere else."""
AUTHORITY_LIFE = timedelta(days=3_650)
RENEWAL = timedelta(days=90)
LEAF_LIFE = timedelta(hours=48)
CLOCK_SKEW = timedelta(hours=1)


class AuthorityUnusable(Exception):
    """Raised when the authority's key is open to others or damaged; the text names the file and the remedy."""


class Seal(Protocol):
    """The keyring of the installation."""

    def seal(self, plain: bytes, associated: bytes) -> bytes: ...

    def unseal(self, box: bytes, associated: bytes) -> bytes: ...


class Authority:
    """Makes certificates for single hosts."""

    def __init__(self, key: ec.EllipticCurvePrivateKey, certificate: x509.Certificate) -> None:
        self._key = key
        self._certificate = certificate

    @classmethod
    def load(cls, folder: Path, seal: Seal) -> Self:
        """The authority of this folder, made at the first start and again before it expires.

        Raises: AuthorityUnusable, OSError, and what `seal` raises for a box that it does not open.
        """
        path = folder / NAME
        if path.exists():
            found = cls._read(path, seal)
            if found._certificate.not_valid_after_utc > datetime.now(UTC) + RENEWAL:
                return found
            path.unlink()
        key = ec.generate_private_key(ec.SECP256R1())
        made = cls(key, _own_certificate(key))
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        is_ours = _create(path, seal.seal(made._as_text(), PLACE))
        return made if is_ours else cls._read(path, seal)

    @property
    def certificate(self) -> bytes:
        """The public part, which is no secret, in PEM."""
        return self._certificate.public_bytes(Encoding.PEM)

    def vouch(self, host: str) -> tuple[bytes, datetime]:
        """A certificate for this canonical host, with its key, in PEM; and when it should be made anew."""
        key = ec.generate_private_key(ec.SECP256R1())
        now = datetime.now(UTC)
        certificate = (
            _dated(x509.CertificateBuilder(), now, LEAF_LIFE)
            .subject_name(x509.Name([]))
            .issuer_name(self._certificate.subject)
            .public_key(key.public_key())
            .add_extension(x509.SubjectAlternativeName([_general_name(host)]), critical=True)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_usage(signs_certificates=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), critical=False)
            .sign(self._key, hashes.SHA256())
        )
        return _key_text(key) + certificate.public_bytes(Encoding.PEM), now + LEAF_LIFE / 2

    def _as_text(self) -> bytes:
        return _key_text(self._key) + self.certificate

    @classmethod
    def _read(cls, path: Path, seal: Seal) -> Self:
        if stat.S_IMODE(path.stat().st_mode) & 0o077:
            raise AuthorityUnusable(f"{path} can be read by others; run `chmod 600 {path}`")
        text = seal.unseal(path.read_bytes(), PLACE)
        try:
            key = load_pem_private_key(text, password=None)
            certificate = x509.load_pem_x509_certificate(text)
        except ValueError as error:
            raise AuthorityUnusable(f"{path} holds no key and certificate; remove it, and a new one is made") from error
        if not isinstance(key, ec.EllipticCurvePrivateKey) or key.public_key() != certificate.public_key():
            raise AuthorityUnusable(f"the key in {path} is not its certificate's; remove it, and a new one is made")
        return cls(key, certificate)


def _own_certificate(key: ec.EllipticCurvePrivateKey) -> x509.Certificate:
    # The name differs between installations: stores find issuers by their names.
    name = f"Agent Sandbox OS egress {secrets.token_hex(4)}"
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    return (
        _dated(x509.CertificateBuilder(), datetime.now(UTC), AUTHORITY_LIFE)
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs_certificates=True), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )


def _dated(builder: x509.CertificateBuilder, now: datetime, life: timedelta) -> x509.CertificateBuilder:
    serial = x509.random_serial_number()
    return builder.serial_number(serial).not_valid_before(now - CLOCK_SKEW).not_valid_after(now + life)


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _general_name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _key_text(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def _create(path: Path, content: bytes) -> bool:
    """Make the file whole, for its owner alone; False if another process made it first."""
    part = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")
    try:
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        path.hardlink_to(part)
    except FileExistsError:
        return False
    finally:
        part.unlink(missing_ok=True)
    return True
