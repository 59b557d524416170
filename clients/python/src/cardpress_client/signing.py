"""Writes addresses of pictures that are made on demand."""

from __future__ import annotations

import hashlib
import hmac
from datetime import datetime
from typing import Mapping
from urllib.parse import quote


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def signed_card_url(
    card: Mapping[str, str | int | float | bool | None],
    *,
    base_url: str,
    key_id: str,
    secret: str,
    expires: datetime | int,
) -> str:
    """The address of a card that is made when somebody opens it. `card` has its `preset` and the parameters by their
    names in the address, such as `external_id`, `name` and `photo`, those that are None left out; a number for
    `expires` is Unix time in seconds."""
    exp = int(expires.timestamp()) if isinstance(expires, datetime) else expires
    parameters = {**card, "key": key_id, "exp": exp}
    preset = quote(str(parameters.pop("preset")), safe="")
    pairs = sorted(
        (quote(name, safe=""), quote(_text(value), safe=""))
        for name, value in parameters.items()
        if value is not None
    )
    text = f"/v1/render/{preset}?" + "&".join(f"{name}={value}" for name, value in pairs)
    signature = hmac.new(secret.encode(), text.encode(), hashlib.sha256).hexdigest()
    return f"{base_url.rstrip('/')}{text}&sig={signature}"
