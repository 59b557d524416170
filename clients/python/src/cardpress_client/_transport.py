"""Sends calls, and again those that may succeed later."""

from __future__ import annotations

import http.client
import json
import random
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from typing import Any, Callable, Mapping

from .errors import CardpressError, NoAnswerError

RETRIES = 4
TIMEOUT_S = 30.0
#: A file may wait until others are written, and its pages are drawn.
FILE_TIMEOUT_S = 240.0
#: A longer Retry-After is of a spent day: nobody waits for that in a call.
MAX_PAUSE_S = 90
MAX_BACKOFF_S = 30
#: The service waits no longer before it answers a create, whose photo it has to fetch first.
MAX_WAIT_S = 15


class Transport:
    def __init__(
        self,
        base_url: str,
        api_key: str,
        retries: int = RETRIES,
        timeout: float = TIMEOUT_S,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.base_url = base_url.rstrip("/")
        self.sleep = sleep
        self._api_key = api_key
        self._retries = retries
        self._timeout = timeout
        #: For how long an answer may be put off, so that it comes within an attempt.
        self.max_wait = min(MAX_WAIT_S, int(timeout / 2))

    @staticmethod
    def new_key() -> str:
        """A new idempotency key."""
        return str(uuid.uuid4())

    @staticmethod
    def quoted(text: str) -> str:
        return urllib.parse.quote(text, safe="")

    def call(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        form: tuple[bytes, str] | None = None,
        idempotency_key: str | None = None,
        wait: int | None = None,
        once: bool = False,
        raw: bool = False,
    ) -> Any:
        """The data of an answer, or its bytes. Raises CardpressError for a refusal."""
        headers = {"X-API-Key": self._api_key}
        data: bytes | None = None
        if body is not None:
            data = json.dumps(body).encode()
            headers["Content-Type"] = "application/json"
        if form is not None:
            data, headers["Content-Type"] = form
        if idempotency_key is not None:
            headers["Idempotency-Key"] = idempotency_key
        if wait is not None:
            headers["Prefer"] = f"wait={wait}"
        address = self.base_url + path + _query(query)
        timeout = max(self._timeout, FILE_TIMEOUT_S) if raw else self._timeout
        sent = 0
        while True:
            is_last = once or sent >= self._retries
            pause = min(2**sent, MAX_BACKOFF_S) * (0.5 + random.random())
            try:
                request = urllib.request.Request(address, data=data, headers=headers, method=method)
                with _OPENER.open(request, timeout=timeout) as response:
                    content = response.read()
                    replayed = response.headers.get("Idempotent-Replayed") == "true"
                if raw:
                    return content
                answer = _envelope(content)["data"]
                return answer if idempotency_key is None else {**answer, "replayed": replayed}
            except urllib.error.HTTPError as refused:
                asked = _seconds(refused.headers.get("Retry-After"))
                is_worth_repeating = refused.code == 429 or refused.code >= 500
                if is_last or not is_worth_repeating or asked > MAX_PAUSE_S:
                    raise _refusal(refused) from None
                pause = asked or pause
            except (OSError, http.client.HTTPException, ValueError) as error:
                if is_last:
                    raise NoAnswerError(f"No answer from {self.base_url}: {error}") from error
            self.sleep(pause)
            sent += 1


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect would turn a create into a list, and take the key to another host."""

    def redirect_request(self, *_: Any) -> None:
        return None


_OPENER = urllib.request.build_opener(_NoRedirects)


def _query(query: Mapping[str, Any] | None) -> str:
    pairs: list[tuple[str, str]] = []
    for name, value in (query or {}).items():
        if isinstance(value, Mapping):
            pairs += [(f"{name}.{key}", str(one)) for key, one in value.items()]
        elif value is not None:
            pairs.append((name, str(value).lower() if isinstance(value, bool) else str(value)))
    return "?" + urllib.parse.urlencode(pairs) if pairs else ""


def _envelope(content: bytes) -> dict[str, Any]:
    envelope = json.loads(content)
    if not isinstance(envelope, dict) or "data" not in envelope:
        raise ValueError("it is not the service's envelope: is the address right, and is a proxy in between?")
    return envelope


def _seconds(text: str | None) -> int:
    return int(text) if text is not None and text.isdigit() else 0


def _refusal(refused: urllib.error.HTTPError) -> Exception:
    try:
        error = json.loads(refused.read())["error"]
        return CardpressError(refused.code, error, _seconds(refused.headers.get("Retry-After")) or None)
    except (ValueError, KeyError, TypeError, OSError, http.client.HTTPException):
        return NoAnswerError(
            f"HTTP {refused.code} without the service's envelope: is the address right, and is a proxy in between?"
        )
