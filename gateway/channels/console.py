"""The channel of the terminal: it asks for the state of a task itself, so that nothing is brought to it."""

from contracts.messages import Address
from gateway.channel import Capabilities, FilePage, Page

CAPABILITIES = Capabilities(edit=False, buttons=False, files=False, pushes=False, max_text=1_000_000)


class Console:
    """Satisfies Channel; every call is a no-op that succeeds."""

    @property
    def name(self) -> str:
        return "console"

    @property
    def capabilities(self) -> Capabilities:
        return CAPABILITIES

    async def send(self, address: Address, page: Page) -> str:
        return address.chat_id

    async def edit(self, address: Address, message_id: str, page: Page) -> None:
        return

    async def show_file(self, address: Address, message_id: str, file: FilePage) -> None:
        return
