"""Which addresses count as public."""

import ipaddress

import pytest

from sandbox.addresses import is_public


@pytest.mark.parametrize(
    "address",
    [
        "0.0.0.0", "10.1.2.3", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.255.255.254", "168.63.129.16",  # noqa: S104  an address to refuse
        "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.192", "192.168.1.1", "198.18.0.1", "224.0.0.1",
        "240.0.0.1", "255.255.255.255", "::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:169.254.169.254",
        "2002:7f00:1::", "2002:a9fe:a9fe::1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::808:808",
        "2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001:db8::1", "fc00::1", "fd00:ec2::254", "fe80::1", "fec0::1",
        "ff02::1", "2606:4700::5efe:7f00:1", "2606:4700::200:5efe:a00:1", "100::1", "5f00::1",
    ],
)  # fmt: skip
def test_no_place_of_the_public_internet(address: str) -> None:
    assert not is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize(
    "address",
    ["1.1.1.1", "8.8.8.8", "100.63.255.255", "100.128.0.1", "172.32.0.1", "192.169.0.1", "2606:4700::1111",
     "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1"],
)  # fmt: skip
def test_a_place_of_the_public_internet(address: str) -> None:
    assert is_public(ipaddress.ip_address(address))
