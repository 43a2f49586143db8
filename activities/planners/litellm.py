"""The planner that asks a language model, through LiteLLM. It asks once: trying again is the workflow engine's work.

The only module that imports litellm, which takes seconds. Whoever starts the process sets LITELLM_LOCAL_MODEL_COST_MAP
to `True` and LITELLM_OFFLINE_MODE to `true` in its environment before, or the import looks up prices on the network.
"""

import asyncio
import hmac
import logging
import secrets
import warnings

from activities.planner import (
    PlannerBusy,
    PlannerContext,
    PlannerRefused,
    Thought,
)
from activities.planners.messages import Conversation, tool_schemas
from activities.planners.model_answers import ModelAnswer, RawCall, draft_of
from activities.planners.provider_errors import translated
from activities.planners.truth import verified
from contracts.language import Language
from contracts.planning import Usage
from contracts.texts import planner as texts
from contracts.tools import canonical_json
from contracts.values import JsonObject
from memory.tokens import tokens_of
from memory.window import window

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # its own type definitions make pydantic warn at import
    import litellm
    import openai
    from litellm import acompletion, completion, cost_per_token
    from litellm.llms.custom_httpx.http_handler import AsyncHTTPHandler
    from litellm.types.utils import ChatCompletionMessageToolCall, ModelResponse

MAX_OUTPUT_TOKENS = 4_096
"""Bounds an answer, and so makes the estimate of its price an upper one."""

NO_KEY = "none"
"""Local servers want a key in the header and do not look at it."""

OLLAMA = "http://localhost:11434"


class LiteLlm:
    """Asks `model`. A server that speaks OpenAI's protocol or Ollama's needs only a model and a base URL."""

    def __init__(
        self,
        *,
        model: str,
        base_url: str = "",
        api_key: str = "",
        timeout_seconds: float = 100.0,
        context_tokens: int = 32_000,
        max_output_tokens: int = MAX_OUTPUT_TOKENS,
    ) -> None:
        self._model, self._base_url = endpoint(model, base_url)
        self._api_key = api_key or (NO_KEY if self._base_url else "")
        self._timeout_seconds = timeout_seconds
        self._context_tokens = context_tokens
        self._max_output_tokens = max_output_tokens
        self._secret = secrets.token_bytes(32)
        _quieten()
        _warm_up()

    async def next_step(self, context: PlannerContext) -> Thought:
        """Raises: PlannerRefused, PlannerBusy."""
        boundary = hmac.digest(self._secret, context.task_id.encode(), "sha256").hex()[:16]
        shown = await asyncio.to_thread(window, context.turns, context.results, self._context_tokens)
        messages = Conversation(boundary, context.language).messages(shown)
        tools = tool_schemas(context.tools)
        question = await context.purse.reserve(self._most(messages, tools))
        if question is not None:
            return Thought(question)
        response = await self._ask(messages, tools, context)
        usage = self._usage(response)
        if usage.input_tokens or usage.output_tokens:
            await context.purse.settle(usage)
        answer = _answer(response, context.language, self._model)
        draft = draft_of(answer, context.tools, context.language)
        if draft is not None:
            return Thought(draft, usage)
        text = answer.text.replace(boundary, "…").strip()
        if answer.finish_reason == "length":
            text = f"{text}\n\n{texts.CUT_SHORT.say(context.language)}"
        return Thought(verified(text, context.turns, context.results, context.language), usage)

    async def close(self) -> None:
        """Close the connections that litellm keeps for this process."""
        kept = litellm.in_memory_llm_clients_cache.cache_dict
        clients = [client for client in kept.values() if isinstance(client, openai.AsyncOpenAI | AsyncHTTPHandler)]
        kept.clear()
        for client in clients:
            await client.close()

    def _most(self, messages: list[JsonObject], tools: list[JsonObject]) -> Usage:
        """What the call may cost at most."""
        asked, said = sum(tokens_of(canonical_json(part)) for part in (*messages, *tools)), self._max_output_tokens
        return Usage(input_tokens=asked, output_tokens=said, cost_usd=self._price(asked, said), calls=1)

    async def _ask(self, messages: list[JsonObject], tools: list[JsonObject], context: PlannerContext) -> ModelResponse:
        language = context.language
        try:
            async with asyncio.timeout(self._timeout_seconds):
                response = await acompletion(
                    model=self._model,
                    messages=messages,
                    tools=tools or None,
                    base_url=self._base_url or None,
                    api_key=self._api_key or None,
                    timeout=self._timeout_seconds,
                    max_tokens=self._max_output_tokens,
                    num_retries=0,
                    max_retries=0,
                )
        except TimeoutError:
            raise PlannerBusy(texts.BUSY_REASON["timeout"].say(language)) from None
        except openai.OpenAIError as error:
            if not isinstance(error, openai.APITimeoutError):  # what has timed out may still be charged
                await context.purse.settle(Usage())
            raise translated(error, language, self._model) from None  # provider texts may quote keys and prompts
        if not isinstance(response, ModelResponse):
            raise PlannerBusy(texts.BUSY_REASON["unreadable"].say(language))
        return response

    def _usage(self, response: ModelResponse) -> Usage:
        counted = getattr(response, "usage", None)
        asked = int(getattr(counted, "prompt_tokens", 0) or 0)
        said = int(getattr(counted, "completion_tokens", 0) or 0)
        return Usage(input_tokens=asked, output_tokens=said, cost_usd=self._price(asked, said), calls=1)

    def _price(self, input_tokens: int, output_tokens: int) -> float:
        """In US dollars by litellm's own price list; 0 for models that are not in it, such as local ones."""
        try:
            asked, said = cost_per_token(self._model, prompt_tokens=input_tokens, completion_tokens=output_tokens)
        except (litellm.exceptions.ModelNotMappedError, openai.OpenAIError):
            return 0.0
        return float(asked + said)


def endpoint(model: str, base_url: str) -> tuple[str, str]:
    """Model with provider, and where it is asked.

    A bare name at a base URL is an OpenAI-compatible server. So is Ollama under `/v1`: its own protocol would make
    litellm ask for more at each call, and block the event loop while it does.
    """
    provider, slash, rest = model.partition("/")
    if slash and provider in ("ollama", "ollama_chat"):
        root = (base_url or OLLAMA).rstrip("/")
        return f"openai/{rest}", root if root.endswith("/v1") else f"{root}/v1"
    if not base_url or (slash and provider in litellm.provider_list):
        return model, base_url
    return f"openai/{model}", base_url


def _quieten() -> None:
    """No telemetry, no hints on the terminal, and no prompt in any log."""
    litellm.telemetry = False
    litellm.suppress_debug_info = True
    litellm.turn_off_message_logging = True
    litellm.disable_aiohttp_transport = True  # its sessions outlive the event loop that made them
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy", "openai", "httpx", "httpcore"):
        logging.getLogger(name).setLevel(logging.CRITICAL)


def _warm_up() -> None:
    """One call that stays inside litellm: it loads more of itself at the first one, for seconds and with warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        completion(model="openai/none", messages=[{"role": "user", "content": "-"}], mock_response="-", api_key=NO_KEY)


def _answer(response: ModelResponse, language: Language, model: str) -> ModelAnswer:
    if not response.choices:
        raise PlannerBusy(texts.BUSY_REASON["empty"].say(language))
    choice = response.choices[0]
    if choice.finish_reason == "content_filter":
        raise PlannerRefused("content_policy", texts.REMEDY["content_policy"].say(language, model=model))
    message = choice.message
    calls = tuple(
        RawCall(call.id or "", call.function.name or "", call.function.arguments or "")
        for call in message.tool_calls or ()
        if isinstance(call, ChatCompletionMessageToolCall)
    )
    return ModelAnswer(message.content or "", calls, str(choice.finish_reason))
