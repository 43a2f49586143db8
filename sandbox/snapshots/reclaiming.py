"""Of a snapshot, the files that a person made or was given, without what tools make again."""

from dataclasses import replace

from sandbox.snapshots.listing import Entry, Listing, Manifest
from sandbox.snapshots.sorting import PROJECT_TREE, is_project

RECLAIMED = "project files"
"""The name of such a snapshot."""


def project_files(whole: Listing, manifest: Manifest) -> tuple[Listing, Manifest] | None:
    """The same data, with fewer nodes; None if there is not one file among them."""
    entries = whole.trees.get(PROJECT_TREE, ())
    kept = _with_first_names([entry for entry in entries if is_project(PROJECT_TREE, entry.node.path)], entries)
    files = [entry for entry in kept if entry.node.kind in ("file", "twin")]
    if not files:
        return None
    listing = whole.only({PROJECT_TREE: tuple(kept)})
    told = {
        "kind": "files",
        "name": RECLAIMED,
        "parent": manifest.digest,
        "files": len(files),
        "bytes_total": sum(entry.node.size for entry in kept),
        "layers": listing.layers,
    }
    return listing, manifest.model_copy(update=told)


def _with_first_names(kept: list[Entry], entries: tuple[Entry, ...]) -> list[Entry]:
    """Where the name that came first is left out, the next name of that file takes its place."""
    files = {entry.node.path: entry for entry in entries if entry.node.kind == "file"}
    names = {entry.node.path: entry.node.path for entry in kept if entry.node.kind == "file"}
    found = []
    for entry in kept:
        if entry.node.kind == "twin":
            first = names.setdefault(entry.node.target, entry.node.path)
            if first == entry.node.path:
                origin = files[entry.node.target]
                entry = Entry(replace(origin.node, path=entry.node.path), origin.pieces)
            else:
                entry = Entry(replace(entry.node, target=first))
        found.append(entry)
    return found
