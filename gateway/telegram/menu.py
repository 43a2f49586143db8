"""The bot's menu of commands, in both languages."""

from telegram import Bot, BotCommand

from contracts.language import Language
from contracts.texts import gateway as texts
from contracts.texts import kill as kill_texts
from contracts.texts.sentence import Sentence

MENU: tuple[tuple[str, Sentence], ...] = (
    ("tasks", texts.MENU_TASKS),
    ("status", texts.MENU_STATUS),
    ("stop", texts.MENU_STOP),
    ("pause", texts.MENU_PAUSE),
    ("resume", texts.MENU_RESUME),
    ("retry", texts.MENU_RETRY),
    ("mode", texts.MENU_MODE),
    ("run", texts.MENU_RUN),
    ("browse", texts.MENU_BROWSE),
    ("read", texts.MENU_READ),
    ("kill", kill_texts.MENU_KILL),
    ("lift", kill_texts.MENU_LIFT),
    ("help", texts.MENU_HELP),
)


async def offer_menu(bot: Bot, language: Language) -> None:
    """The menu is changed only if it differs: Telegram limits how often a bot may."""
    code = None if language == "en" else language
    wanted = [BotCommand(name, sentence.say(language)) for name, sentence in MENU]
    if list(await bot.get_my_commands(language_code=code)) != wanted:
        await bot.set_my_commands(wanted, language_code=code)
