"""Editors and terminals within the terminal: each can run a shell."""

from policy.commands.program import Program, asked, table
from policy.rules import Rule

PROGRAMS: dict[str, Program] = {
    **table(
        "vi vim nvim view vimdiff ex ed red emacs emacsclient nano pico joe micro helix kak code mcedit gdb lldb "
        "screen tmux byobu dialog whiptail xterm gnome-terminal mc ranger entr inotifywait at-spi gvim rvim",
        asked(Rule.COMMAND_OPAQUE),
    ),
}
