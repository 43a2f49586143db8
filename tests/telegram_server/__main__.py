"""`python -m tests.telegram_server --port N` serves until it is ended; its address is the first line printed."""

import argparse
import asyncio
import sys

from tests.telegram_server.server import TelegramServer


async def _serve(port: int) -> None:
    async with TelegramServer(port) as server:
        sys.stdout.write(f"{server.url}\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    asyncio.run(_serve(parser.parse_args().port))


if __name__ == "__main__":
    main()
