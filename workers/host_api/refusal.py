"""Every way in which this interface says no: a status and a Problem, whatever went wrong below."""

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from audit.storage import StorageUnusable
from contracts.access import Problem, ProblemCode
from contracts.sandbox import FileRefused, SandboxLost, SandboxUnavailable

STATUS: dict[ProblemCode, int] = {
    "bad_request": 400,
    "unauthorised": 401,
    "refused": 403,
    "no_sandbox": 404,
    "old_lease": 409,
    "lost": 410,
    "unknown_host": 421,
    "unavailable": 503,
}


class Refusal(Exception):
    """Raised when something is not done; the text is a sentence for the person."""

    def __init__(self, code: ProblemCode, text: str) -> None:
        super().__init__(text)
        self.problem = Problem(code=code, text=text)


REFUSED = (Refusal, FileRefused, SandboxLost, SandboxUnavailable, StorageUnusable, ClientDisconnect)
"""What the parts below raise to say no."""


def problem_of(error: Exception) -> Problem:
    """Fails closed: what cannot be recorded in the audit log is not done."""
    if isinstance(error, Refusal):
        return error.problem
    if isinstance(error, FileRefused):
        return Problem(code="refused", text=str(error))
    if isinstance(error, SandboxLost):
        return Problem(code="lost", text=str(error))
    if isinstance(error, ClientDisconnect):
        return Problem(code="bad_request", text="the connection ended before the content did")
    return Problem(code="unavailable", text=str(error))


def answer(problem: Problem, status: int | None = None) -> JSONResponse:
    headers = {"WWW-Authenticate": "Bearer"} if problem.code == "unauthorised" else None
    return JSONResponse(problem.model_dump(), status or STATUS[problem.code], headers)


def answer_refusals(app: FastAPI) -> None:
    """Give every error of this interface the same shape."""

    async def refused(_request: Request, error: Exception) -> JSONResponse:
        return answer(problem_of(error))

    async def malformed(_request: Request, error: Exception) -> JSONResponse:
        return answer(Problem(code="bad_request", text=_malformed(error)))

    async def unknown(_request: Request, error: Exception) -> JSONResponse:
        status = error.status_code if isinstance(error, HTTPException) else 400
        detail = str(error.detail) if isinstance(error, HTTPException) else str(error)
        return answer(Problem(code="bad_request", text=detail), status)

    for kind in REFUSED:
        app.add_exception_handler(kind, refused)
    app.add_exception_handler(RequestValidationError, malformed)
    app.add_exception_handler(HTTPException, unknown)


def _malformed(error: Exception) -> str:
    if not isinstance(error, RequestValidationError):
        return str(error)
    return "; ".join(f"{'.'.join(map(str, each['loc'][1:]))}: {each['msg']}" for each in error.errors())
