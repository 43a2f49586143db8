"""Programs that change what happens later, or on other machines: schedules, services, desktops."""

from policy.commands.call import Call
from policy.commands.program import Program, asked, judged, table
from policy.commands.stream import OPAQUE, Stream
from policy.commands.word import Word
from policy.rules import Rule


def _crontab(call: Call) -> Stream:
    """Only listing changes nothing."""
    return OPAQUE if [word.text for word in call.arguments] == ["-l"] else call.ask(Rule.COMMAND_PERSISTENCE)


def _later(call: Call) -> Stream:
    """What is piped in runs later; it is judged like any script, and asked."""
    if call.stdin is not None and call.stdin.text is not None:
        call.run_text(Word(call.stdin.text))
    return call.ask(Rule.COMMAND_PERSISTENCE)


PROGRAMS: dict[str, Program] = {
    "crontab": judged(_crontab),
    **table("at batch", judged(_later)),
    **table(
        "systemd-run systemd-inhibit loginctl launchctl update-rc.d chkconfig update-alternatives chsh chfn "
        "passwd gpasswd useradd "
        "usermod userdel groupadd adduser xdg-open open xdotool xclip xsel notify-send dbus-send gdbus busctl "
        "gsettings dconf "
        "ldconfig localectl timedatectl hostnamectl sysctl dmesg journalctl setfacl setfattr chattr",
        asked(Rule.COMMAND_PERSISTENCE),
    ),
    **table("chromium chromium-browser google-chrome firefox", asked(Rule.COMMAND_NETWORK)),
}
