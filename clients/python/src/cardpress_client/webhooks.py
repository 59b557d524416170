"""Checks the calls that a webhook endpoint gets."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from typing import Iterable, Protocol, cast

from .errors import WebhookSignatureError
from .types import ReceivedEvent

#: Older calls are refused, so that a recorded one cannot be played again.
TOLERANCE_S = 300


#: The fewest that a secret has. With an empty one anybody could sign.
SECRET_BYTES = 24


def _key_of(secret: str) -> bytes:
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except binascii.Error:
        key = b""
    if not secret.startswith("whsec_") or len(key) < SECRET_BYTES:
        raise ValueError(
            "the webhook secret is missing or not one: it begins with whsec_, and is shown when the endpoint is made"
        )
    return key


class Headers(Protocol):
    """The headers of a call, as a dict or as any web framework has them."""

    def items(self) -> Iterable[tuple[str, str]]: ...


def read_webhook(secret: str, headers: Headers, body: bytes, now: float | None = None) -> ReceivedEvent:
    """The event of a call, by its headers and its body's very bytes. Raises WebhookSignatureError unless the
    endpoint's secret signed it within the last five minutes. The same event may come twice: remember the
    header `webhook-id`. What is no secret, such as an empty setting, raises a ValueError."""
    key = _key_of(secret)
    by_name = {name.lower(): value for name, value in headers.items()}
    event_id, timestamp = by_name.get("webhook-id", ""), by_name.get("webhook-timestamp", "")
    age = abs((time.time() if now is None else now) - int(timestamp)) if timestamp.isdigit() else None
    if age is None or age > TOLERANCE_S:
        raise WebhookSignatureError("the webhook is too old, or has no time")
    signed = f"{event_id}.{timestamp}.".encode() + body
    wanted = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    # While a secret is being rotated there are two signatures, one for each secret.
    for entry in by_name.get("webhook-signature", "").split(" "):
        if hmac.compare_digest(wanted.encode(), entry.encode()):
            return cast("ReceivedEvent", json.loads(body))
    raise WebhookSignatureError("the webhook's signature does not match")
