"""Writes addresses of pictures that are made on demand."""

from __future__ import annotations

import hashlib
import hmac
from typing import Any, Mapping
from urllib.parse import quote


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def signed_card_url(
    base_url: str, preset: str, card: Mapping[str, Any], *, key_id: str, secret: str, expires: int
) -> str:
    """The address of a card that is made when somebody opens it. `card` has the parameters by their names in the
    address, such as `external_id`, `name` and `photo`; `expires` is Unix time in seconds."""
    parameters = {**card, "key": key_id, "exp": expires}
    pairs = sorted((quote(name, safe=""), quote(_text(value), safe="")) for name, value in parameters.items())
    text = f"/v1/render/{quote(preset, safe='')}?" + "&".join(f"{name}={value}" for name, value in pairs)
    signature = hmac.new(secret.encode(), text.encode(), hashlib.sha256).hexdigest()
    return f"{base_url.rstrip('/')}{text}&sig={signature}"
