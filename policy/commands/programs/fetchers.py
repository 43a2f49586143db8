"""curl and wget: what they fetch, send, read and write, and the flags that lead around the egress proxy."""

import re

from policy.commands.call import Call
from policy.commands.options import Spec
from policy.commands.program import Program, judged, table
from policy.commands.stream import Stream
from policy.commands.word import Word, literal
from policy.rules import Rule

_CURL = Spec(
    "-o|--output:write --output-dir:write -O|--remote-name --remote-name-all -J|--remote-header-name "
    "-D|--dump-header:write "
    "-c|--cookie-jar:write --trace:write --trace-ascii:write --stderr:write --libcurl:write --etag-save:write "
    "--etag-compare:read "
    "--hsts:write --alt-svc:write "
    "-d|--data|--data-ascii|--data-binary|--data-raw|--data-urlencode|--json|-F|--form|--form-string:body "
    "--url-query:body -T|--upload-file:upload -X|--request:method -H|--header:header --proxy-header:ask "
    "-b|--cookie:cookie "
    "-A|--user-agent: -e|--referer: -u|--user:ask --oauth2-bearer:ask -n|--netrc!ask --netrc-file:ask "
    "--netrc-optional!ask "
    "-x|--proxy:ask --preproxy:ask --noproxy:ask --socks4:ask --socks4a:ask --socks5:ask --socks5-hostname:ask "
    "--proxy-user:ask "
    "-U:ask --resolve:ask --connect-to:ask --interface:ask --dns-servers:ask --dns-interface:ask --doh-url:ask "
    "--unix-socket:ask "
    "--abstract-unix-socket:ask -K|--config:ask -k|--insecure!ask --cacert:read --capath:read -E|--cert:read "
    "--key:read --pass:ask "
    "-Q|--quote:ask --telnet-option:ask --mail-from:ask --mail-rcpt:ask --ftp-port:ask -P:ask -m|--max-time: "
    "--connect-timeout: "
    "--retry: --retry-delay: --retry-max-time: -w|--write-out:format -r|--range: -C|--continue-at: -y: -Y: "
    "--limit-rate: "
    "--max-filesize: --max-redirs: --url:url -z|--time-cond: --ciphers: --tls-max: -t:ask --rate: --proto: "
    "--proto-default:ask "
    "-L|--location --location-trusted!ask -s|--silent -S|--show-error -f|--fail --fail-with-body --fail-early "
    "-v|--verbose -i|--include "
    "-I|--head -g|--globoff -G|--get -q|--disable -N|--no-buffer -#|--progress-bar --no-progress-meter "
    "--compressed -4|--ipv4 -6|--ipv6 "
    "-0|--http1.0 --http1.1 --http2 --http3 --tlsv1.2 --tlsv1.3 -1 --create-dirs -R|--remote-time --retry-all-errors "
    "--retry-connrefused --no-keepalive --path-as-is --post301 --post302 -V|--version -h|--help --parallel -Z "
    "--next --raw --tr-encoding "
    "-a|--append!ask -l --ssl-reqd --no-clobber --remove-on-error",
    "url",
    strict=True,
)


def _curl(call: Call) -> Stream:
    parsed = _CURL.parse(call.arguments)
    urls = [*parsed.operands, *parsed.values("--url")]
    for use in parsed.uses:
        if use.role in ("write", "read", "ask") or use.value is None:
            call.apply("ask" if use.role == "ask" else use.role, use.value, use.name)
        else:
            _curl_value(call, use.role, use.value)
    if parsed.unknown:
        call.ask(Rule.COMMAND_FLAG, f"curl {parsed.unknown[0].text}")
    if parsed.has("-O", "--remote-name", "--remote-name-all"):
        _saved_here(call, urls)
    sends = any(use.role in ("body", "upload") for use in parsed.uses)
    for url in urls:
        _visit(call, url, sends=sends, globs=not parsed.has("-g", "--globoff"))
    return Stream(fetched=True)


def _curl_value(call: Call, role: str, value: Word) -> None:
    if role in ("body", "upload"):
        _sent(call, value, whole=role == "upload")
    elif role == "method" and (not value.is_exact or value.text.upper() not in ("GET", "HEAD")):
        call.ask(Rule.COMMAND_SENDS)
    elif role == "header":
        _header(call, value)
    elif role == "cookie":
        call.ask(Rule.APPROVAL_CREDENTIAL)
    elif role == "format" and (value.is_open or "%output" in value.text or value.text.startswith("@")):
        call.ask(Rule.COMMAND_FLAG)


def _sent(call: Call, value: Word, *, whole: bool) -> None:
    """Data leaves; with `@` it is that of a file."""
    call.scene.findings.affect("send")
    call.ask(Rule.COMMAND_SENDS)
    for name in [value.text] if whole else re.findall(r"[@<]([^;,]+)", value.text):
        call.apply("upload", Word(name, glob=value.glob), "")


def _header(call: Call, value: Word) -> None:
    name = value.text.partition(":")[0].strip().lower()
    if (
        value.is_open
        or value.text.startswith("@")
        or name in ("host", "authorization", "cookie", "proxy-authorization", "x-api-key")
    ):
        call.ask(Rule.APPROVAL_CREDENTIAL if name in ("authorization", "cookie", "x-api-key") else Rule.COMMAND_FLAG)


def _visit(call: Call, url: Word, *, sends: bool, globs: bool) -> None:
    if url.text.startswith("file:"):
        path = re.sub(r"^file:(//(localhost)?)?", "", url.text)
        call.apply("read", Word(path), "")
        return
    if globs and re.search(r"[{}]|\[[^\]]*-[^\]]*\]", url.text):
        call.scene.unresolved(url)
    call.scene.visit(_with_scheme(url), write=sends)


def _with_scheme(url: Word) -> Word:
    """Both programs take http:// where nothing is said."""
    if re.match(r"^[A-Za-z][A-Za-z0-9+.-]*:/", url.text) or url.text.startswith(("http:", "https:")):
        return url
    return Word("http://" + url.text, url.glob, url.numeric, url.fetched, url.many)


_WGET = Spec(
    "-O|--output-document:write -o|--output-file:write -a|--append-output:write -P|--directory-prefix:write "
    "-i|--input-file:ask "
    "--post-data:body --post-file:upload --body-data:body --body-file:upload --method:method --header:header "
    "-e|--execute:ask "
    "--config:ask --use-askpass:ask --load-cookies:ask --save-cookies:write --http-user:ask --http-password:ask "
    "--user:ask "
    "--password:ask --ask-password!ask --proxy-user:ask --no-proxy!ask --no-check-certificate!ask "
    "--ca-certificate:read "
    "--certificate:read --private-key:read --warc-file:write --rejected-log:write --bind-address:ask --dns-servers:ask "
    "-U|--user-agent: --referer: -t|--tries: -T|--timeout: -w|--wait: --waitretry: --limit-rate: -Q|--quota: "
    "-l|--level: -A|--accept: "
    "-R|--reject: -D|--domains: --exclude-domains: -I: -X: --accept-regex: --reject-regex: --max-redirect: "
    "--progress: -B|--base:ask "
    "--connect-timeout: --read-timeout: --dns-timeout: --start-pos: -q|--quiet -v|--verbose -n -nv -nc -nd -nH "
    "--no-verbose --no-clobber -c|--continue -N|--timestamping "
    "-S|--server-response --spider -x -r|--recursive -k|--convert-links -p|--page-requisites -m|--mirror "
    "-np|--no-parent -E -K -H!ask "
    "-b|--background --content-disposition --trust-server-names --show-progress -4 -6 --https-only "
    "--compression: -V|--version -h|--help -L "
    "--no-cookies --no-cache --no-hsts --retry-connrefused",
    "url",
    strict=True,
)


def _wget(call: Call) -> Stream:
    parsed = _WGET.parse(call.arguments)
    for use in parsed.uses:
        if use.role in ("write", "read", "ask") or use.value is None:
            call.apply(use.role, use.value, use.name)
        else:
            _curl_value(call, use.role, use.value)
    if parsed.unknown:
        call.ask(Rule.COMMAND_FLAG, f"wget {parsed.unknown[0].text}")
    if not parsed.has("-O", "--output-document", "--spider"):
        _saved_here(call, [] if parsed.has("-P", "--directory-prefix") else list(parsed.operands))
    sends = any(use.role in ("body", "upload") for use in parsed.uses)
    for url in parsed.operands:
        _visit(call, url, sends=sends, globs=False)
    return Stream(fetched=True)


def _saved_here(call: Call, urls: list[Word]) -> None:
    """Under the name that the address ends with."""
    for url in urls:
        name = url.text.split("?", 1)[0].rstrip("/").rsplit("/", 1)[-1]
        call.apply("write", Word(name, url.glob) if "/" in url.text and name else literal("index.html"), "")


def _other(call: Call) -> Stream:
    """Fetches something, in ways that are not followed."""
    for word in call.arguments:
        if "://" in word.text:
            call.scene.visit(word)
    call.ask(Rule.COMMAND_NETWORK)
    return Stream(fetched=True)


PROGRAMS: dict[str, Program] = {
    "curl": judged(_curl),
    "wget": judged(_wget),
    **table(
        "aria2c axel http https httpie xh lynx links links2 elinks w3m lwp-request GET HEAD POST fetch yt-dlp "
        "youtube-dl gh glab "
        "aws gcloud gsutil az rclone s3cmd wget2 curlie lftp ftp tftp",
        judged(_other),
    ),
}
