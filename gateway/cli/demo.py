"""`asos demo`: the main job on real input that it makes itself, with nothing but this machine."""

from pathlib import Path
from typing import Annotated

import typer

from contracts.messages import HostGrant
from contracts.texts import cli as texts
from gateway.cli.asking import follow_to_end, start_task
from gateway.cli.following import Manner, person_is_here
from gateway.cli.office import Office, Prepare, run
from gateway.cli.requests import request
from gateway.cli.screen import Screen
from gateway.cli.site import serve_site
from runtime.settings import Settings

HOST = "lighthouse.demo.test"
"""A name that no resolver knows (RFC 6761): the demonstration pins it to its own site."""

PLAYBOOK = f"""/plan
name: demo
description: Browse a page, save a report in the sandbox, publish it with your permission, and send it to you.
steps:
  - id: open
    tool: browse
    args:
      url: "http://{HOST}/"
  - id: save
    tool: shell
    args:
      script: |
        printf '# %s\\n\\n%s\\n' {{{{ steps.open.title }}}} {{{{ steps.open.text | summary }}}} > report.md
        wc -w report.md
  - id: publish
    tool: shell
    after: [save]
    args:
      script: curl --silent --show-error --fail --data-binary @report.md http://{HOST}/guestbook
  - id: send
    tool: files
    after: [publish]
    args:
      operation: send
      path: report.md
answer: |
  {{{{ steps.open.title }}}}

  {{{{ steps.open.text | summary }}}}
"""


async def demonstrate(office: Office, *, yes: bool, as_json: bool, save_to: Path | None) -> int:
    """Serve, browse, save, ask, answer."""
    screen = Screen(office.console, office.language)
    with serve_site() as port:
        if not as_json:
            screen.note(texts.DEMO_SITE.say(office.language, url=f"http://127.0.0.1:{port}/"))
        grant = HostGrant(host=HOST, port=80, address=f"127.0.0.1:{port}")
        delivered = await request(office, PLAYBOOK, hosts=(grant,))
        task_id = await start_task(office, delivered)
        manner = Manner(yes=yes, ask_here=person_is_here() and not as_json, files_to=save_to)
        return await follow_to_end(office, task_id, manner, as_json=as_json)


def register(app: typer.Typer, settings: Settings, ensure_up: Prepare) -> None:
    """Add the command; it starts the system if need be."""

    @app.command(rich_help_panel="Talk")
    def demo(
        yes: Annotated[bool, typer.Option("--yes", "-y", help="Approve the one risky step, visibly.")] = False,
        as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object at the end.")] = False,
        save_to: Annotated[Path | None, typer.Option(help="Folder for the report.")] = None,
    ) -> None:
        """See it at work: browse a local site, write a report in the sandbox, ask you once, answer."""

        async def command(office: Office) -> int:
            return await demonstrate(office, yes=yes, as_json=as_json, save_to=save_to)

        ensure_up(settings)
        run(settings, command)
