"""Settings of git: a few mean nothing to safety, many name a command that git runs later."""

import re

from policy.commands.call import Call
from policy.commands.word import Word
from policy.rules import Rule

_HARMLESS = re.compile(
    r"^(user\.(name|email)|author\.(name|email)|committer\.(name|email)|color\..*|advice\..*|core\.(quotepath|abbrev|autocrlf|eol|"
    r"ignorecase|filemode|safecrlf|precomposeunicode)|init\.defaultbranch|pull\.(rebase|ff)|merge\.(ff|conflictstyle)|rebase\.autostash|"
    r"commit\.gpgsign|tag\.gpgsign|push\.default|fetch\.prune|log\..*|diff\.(renames|algorithm|noprefix|mnemonicprefix|context)|"
    r"column\..*|status\..*|branch\.sort|tag\.sort|rerere\.enabled|gc\.auto|help\.autocorrect)$"
)


def is_harmless_setting(key: str) -> bool:
    return _HARMLESS.match(key.lower()) is not None


def judge_setting(call: Call, setting: Word) -> None:
    """`-c key=value`. An alias that begins with `!` is a script."""
    key, _, value = setting.text.partition("=")
    if setting.is_exact and is_harmless_setting(key):
        return
    if setting.is_exact and key.lower().startswith("alias.") and value.startswith("!"):
        call.run_text(Word(value[1:]))
    call.ask(Rule.COMMAND_FLAG, f"git -c {setting.text}")
