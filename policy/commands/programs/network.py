"""Other programs that reach the network: none of them goes through the egress proxy."""

import re

from policy.commands.call import Call
from policy.commands.options import Spec
from policy.commands.program import Program, asked, judged, table
from policy.commands.stream import Stream
from policy.commands.word import Word
from policy.rules import Rule

_REMOTE = re.compile(r"^(?:[^/@]+@)?([^/:@\[\]]+|\[[^\]]*\])::?|^rsync://|^sftp://|^scp://")


def _lookup(call: Call) -> None:
    """A name look-up carries its name out, past any proxy."""
    call.scene.findings.affect("egress")
    if any(word.is_open or word.glob for word in call.arguments):
        call.deny(Rule.COMMAND_SENDS)
    for word in call.arguments:
        if "." in word.text and not word.text.startswith(("-", "+", "@")):
            call.scene.visit(Word(f"https://{word.text}"))
    call.ask(Rule.COMMAND_NETWORK)


def _netcat(call: Call) -> Stream:
    """With a program behind it, it is a shell for somebody else."""
    texts = [word.text for word in call.arguments]
    if any(re.match(r"^(-[a-zA-Z]*[ec]|--exec|--sh-exec|--lua-exec)", text) for text in texts):
        return call.deny(Rule.COMMAND_SOCKET)
    if any(re.search(r"\b(exec|system|shell)\b", text, re.IGNORECASE) for text in texts):
        return call.deny(Rule.COMMAND_SOCKET)
    return _reached(call)


def _reached(call: Call) -> Stream:
    call.scene.findings.affect("egress", "send")
    call.ask(Rule.COMMAND_NETWORK)
    return Stream(fetched=True)


def _ssh(call: Call) -> Stream:
    return _reached(call)


def _scp(call: Call) -> Stream:
    parsed = Spec("-i:read -F:ask -S:ask -o:ask -J:ask -P: -l: -c:", "text").parse(call.arguments)
    for word in parsed.operands:
        if not _REMOTE.match(word.text):
            call.apply("upload_tree" if word is not parsed.operands[-1] else "write", word, "")
    return _reached(call)


def _rsync(call: Call) -> Stream | None:
    spec = Spec(
        "-e|--rsh:script --rsync-path:script --files-from:read --exclude-from:read --include-from:read "
        "--password-file:ask "
        "--log-file:write --backup-dir:write --partial-dir:write --temp-dir:write -T:write --exclude: --include: "
        "-f|--filter: "
        "--compare-dest:read --copy-dest:read --link-dest:read --bwlimit: --max-size: --min-size: --chmod: "
        "--suffix: --timeout: -B: "
        "-a|--archive -v|--verbose -r|--recursive -l -p -t -g -o -D -z|--compress -h -n|--dry-run -u|--update "
        "-P|--progress --partial "
        "--stats -i -c|--checksum -x -q|--quiet -A -X -H -S -W -R|--relative -b|--backup -0 -L -k -K -O -J "
        "--existing --ignore-existing "
        "--numeric-ids --links --perms --times --delete!ask --remove-source-files!ask",
        "text",
        strict=True,
    )
    parsed = call.judge(spec)
    remote = [word for word in parsed.operands if _REMOTE.match(word.text) or word.is_open]
    for word in parsed.operands[:-1] or parsed.operands:
        call.apply("text" if word in remote else "upload_tree" if remote else "tree", word, "")
    if len(parsed.operands) > 1 and parsed.operands[-1] not in remote:
        call.apply("write", parsed.operands[-1], "")
    return _reached(call) if remote else None


def _ssh_keygen(call: Call) -> None:
    """Showing a fingerprint is harmless; all else makes, changes or loads something."""
    parsed = Spec("-l -v -B -E: -f:read", "read", strict=True).parse(call.arguments)
    if parsed.unknown or not parsed.has("-l", "-B"):
        call.ask(Rule.APPROVAL_CREDENTIAL)
    for word in parsed.values("-f"):
        if not word.text.endswith(".pub"):
            call.ask(Rule.APPROVAL_CREDENTIAL)
        call.apply("read", word, "")


def _openssl(call: Call) -> Stream | None:
    if not call.arguments:
        return None
    name, rest = call.arguments[0].text, call.arguments[1:]
    if name not in ("version", "rand", "dgst", "x509", "sha256", "sha1", "md5", "sha512", "crl", "asn1parse"):
        return call.ask(Rule.COMMAND_NETWORK if name.startswith("s_") else Rule.COMMAND_FLAG)
    spec = Spec(
        "-in:read -out:write -writerand:write -rand:read -signkey:ask -sign:ask -verify:read -signature:read "
        "-CA:ask -CAkey:ask "
        "-engine:ask -provider:ask -provider-path:ask -extfile:ask -passin:ask -config:ask -key:ask -hmac: -mac: "
        "-inform: -outform: "
        "-noout -text -subject -issuer -dates -enddate -startdate -serial -fingerprint -sha256 -sha1 -md5 "
        "-sha512 -hex -base64 -binary "
        "-a -v -r -c -purpose -pubkey -modulus -email -ext: -nameopt: -checkend: -hash",
        "read" if name not in ("rand", "version") else "text",
        strict=True,
        single_dash=True,
    )
    Call(f"openssl {name}", rest, call.stdin, call.state, call.shell).judge(spec)
    return None


def _ip(call: Call) -> None:
    texts = [word.text for word in call.arguments if not word.text.startswith("-")]
    if (
        len(texts) > 2
        or any(word.is_open for word in call.arguments)
        or set(texts) & {"netns", "exec", "vrf", "add", "del", "set"}
    ):
        call.ask(Rule.COMMAND_NETWORK)
    if any(word.text in ("-b", "-batch", "-force", "-n", "-netns") for word in call.arguments):
        call.ask(Rule.COMMAND_FLAG)


PROGRAMS: dict[str, Program] = {
    **table("dig nslookup host drill getent resolvectl whois delv kdig", judged(_lookup)),
    **table("nc ncat netcat socat nc.traditional nc.openbsd", judged(_netcat)),
    **table("ssh telnet mosh sftp autossh sshpass ssh-copy-id sshfs rsh rlogin", judged(_ssh)),
    **table("scp pscp", judged(_scp)),
    "rsync": judged(_rsync),
    "ssh-keygen": judged(_ssh_keygen),
    "openssl": judged(_openssl),
    **table("ip ss netstat ifconfig", judged(_ip)),
    **table(
        "ping ping6 traceroute tracepath mtr nmap masscan tcpdump tshark arp arping iptables nft route iw "
        "curl-config mail mailx "
        "sendmail mutt msmtp swaks wall write logger gpg gpg2 ssh-add ssh-agent age pass secret-tool security "
        "keyctl mosquitto_pub "
        "redis-cli ngrok cloudflared chisel websocat tor torsocks proxychains proxychains4 openvpn wg stunnel "
        "iperf iperf3 hping3",
        asked(Rule.COMMAND_NETWORK),
    ),
}
