"""The gateway put together: channels, desk, activity worker and pages, started and ended in order."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

from fastapi import FastAPI
from temporalio.client import Client
from temporalio.converter import PayloadCodec
from temporalio.worker import Worker

from audit.standing import Sealer, standing_in
from contracts.audit import Recorder
from contracts.blobs import Blobs
from contracts.kill import Brake
from contracts.language import Language
from contracts.queues import GATEWAY
from contracts.task import Limits
from gateway.access import Access, AsPaired
from gateway.app import build_app
from gateway.approvals_page import approval_routes
from gateway.card import SentenceFor
from gateway.channel import Channel, Liveness
from gateway.channels.console import Console
from gateway.channels.telegram import Telegram
from gateway.deciding import Confirm, Deciding
from gateway.delivering import Deliveries
from gateway.kill_orders import KillOrders
from gateway.kill_page import kill_routes
from gateway.obeying import Obeying
from gateway.outbox import Outbox
from gateway.owner import Owner
from gateway.pace import Pace
from gateway.pairing import Pairing
from gateway.pairing_note import PairingNote
from gateway.reception import Reception
from gateway.replay_page import Replays
from gateway.requests import Requests
from gateway.speaking import Speaker
from gateway.standing_rules import StandingDesk
from gateway.store import Store
from gateway.temporal_desk import TemporalDesk
from gateway.temporal_page import TemporalPage
from gateway.tidings import Tidings
from runtime.addresses import UI_PATH
from runtime.killing.desk import KillDesk
from runtime.web import serve

GRACE = timedelta(seconds=5)
DELIVERIES_AT_ONCE = 100

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Places:
    """Where the gateway keeps what it must not forget."""

    database: Path
    pairing_code: Path
    owner_token: Path
    standing: Path


class Gateway:
    """Made of its parts by `main`; `run` lives until `stop` is set."""

    def __init__(
        self,
        *,
        connect: Callable[[], Awaitable[Client]],
        places: Places,
        blobs: Blobs,
        codec: PayloadCodec,
        telegram: Telegram | None,
        webhook_url: str,
        sentence_for: SentenceFor,
        limits: Limits,
        port: int,
        kills: KillDesk,
        brake: Brake,
        ui_origins: tuple[str, ...],
        ui_upstream: str = "",
        pace: Pace | None = None,
        access: Access | None = None,
        language: Language = "en",
        sealer: Sealer,
        confirm: Confirm,
        recorder: Recorder | None = None,
        replays: Replays | None = None,
    ) -> None:
        self._connect = connect
        self._port = port
        self._telegram = telegram
        self._desk = TemporalDesk(brake=brake)
        self._store = Store(places.database)
        outbox, requests = Outbox(self._store), Requests(self._store)
        access = access or AsPaired()
        self.pairing = Pairing(self._store, access=access, recorder=recorder)
        self._requests = requests
        self._note = PairingNote(self.pairing, places.pairing_code)
        channels: list[Channel] = [Console(), *([telegram] if telegram else [])]
        pace = pace or Pace()
        speakers: Mapping[str, Speaker] = {channel.name: Speaker(channel, outbox, pace) for channel in channels}
        self._tidings = Tidings(access, self.pairing, speakers, language)
        self._deliveries = Deliveries(speakers, outbox, blobs, sentence_for)
        deciding = Deciding(self._desk, confirm, recorder)
        standing = StandingDesk(lambda: standing_in(places.standing, sealer), recorder)
        orders = KillOrders(kills, self._desk, outbox, requests)
        obeying = Obeying(self._desk, outbox, requests, sentence_for, deciding, standing, orders)
        self._reception = Reception(
            self._desk, speakers, self.pairing, outbox, requests, blobs, obeying, limits, deciding
        )
        owner = Owner.load(places.owner_token)
        self._ui = TemporalPage(ui_upstream, UI_PATH, owner) if ui_upstream else None
        self._pages = (approval_routes(self._desk, deciding, owner, sentence_for),)
        self._recorder, self._replays = recorder, replays
        self._app = self._build_app(codec, owner, ui_origins, webhook_url)
        self._app.include_router(kill_routes(owner, kills))

    async def run(self, stop: asyncio.Event) -> None:
        """Raises: PortInUse."""
        try:
            if self._telegram is not None:
                await self._note.refresh()
            await self._requests.tidy()
            async with serve(self._app, self._port, setting="ASOS_GATEWAY_PORT") as port:
                _log.info("the gateway listens on port %s", port)
                await self._work(stop)
        finally:
            if self._ui is not None:
                await self._ui.close()
            self._store.close()

    async def _work(self, stop: asyncio.Event) -> None:
        """Messages are taken from the start; those that Temporal cannot take yet wait at the platform."""
        keeping = [asyncio.create_task(each.keep()) for each in (self._note, self._tidings)] if self._telegram else []
        if self._telegram is not None:
            self._telegram.start(self._reception)
        try:
            await self._deliver(stop)
        finally:
            if self._telegram is not None:
                await self._telegram.stop()
                await self._telegram.close()
            for each in keeping:
                each.cancel()
            await asyncio.gather(*keeping, return_exceptions=True)

    async def _deliver(self, stop: asyncio.Event) -> None:
        """Host the activity `deliver` from the moment that Temporal answers."""
        stopping = asyncio.create_task(stop.wait())
        connecting = asyncio.ensure_future(self._connect())
        try:
            await asyncio.wait([stopping, connecting], return_when=asyncio.FIRST_COMPLETED)
            if not connecting.done():
                return
            client = connecting.result()
            self._desk.connect(client)
            if self._replays is not None:
                self._replays.connect(client)
            worker = Worker(
                client,
                task_queue=GATEWAY,
                activities=[self._deliveries.deliver],
                graceful_shutdown_timeout=GRACE,
                max_concurrent_activities=DELIVERIES_AT_ONCE,
            )
            await self._until_stopped(worker, stopping)
        finally:
            for task in (stopping, connecting):
                task.cancel()
            await asyncio.gather(stopping, connecting, return_exceptions=True)

    async def _until_stopped(self, worker: Worker, stopping: asyncio.Task[bool]) -> None:
        """Raises what ended the worker, if it was not asked to end."""
        working = asyncio.create_task(worker.run())
        await asyncio.wait([working, stopping], return_when=asyncio.FIRST_COMPLETED)
        if self._telegram is not None:
            await self._telegram.stop()
        if not working.done():
            await worker.shutdown()
        await working

    def _build_app(self, codec: PayloadCodec, owner: Owner, ui_origins: tuple[str, ...], webhook_url: str) -> FastAPI:
        telegram = self._telegram
        return build_app(
            reachable=self._desk.reachable,
            liveness=self._liveness,
            codec=codec,
            owner=owner,
            ui_origins=ui_origins,
            ui=self._ui,
            webhook_secret=telegram.webhook_secret if telegram else "",
            take=telegram.take if telegram and webhook_url else None,
            public_host=urlsplit(webhook_url).hostname or "",
            pages=self._pages,
            recorder=self._recorder,
            replays=self._replays,
        )

    def _liveness(self) -> dict[str, Liveness]:
        return {self._telegram.name: self._telegram.liveness} if self._telegram else {}
