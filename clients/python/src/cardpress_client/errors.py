"""What calls raise."""

from __future__ import annotations

from typing import Any

from .types import CreditLack, ErrorDetail, FailedImage


class CardpressError(Exception):
    """The service refused a call, and says why."""

    def __init__(self, status: int, error: dict[str, Any], retry_after: int | None = None) -> None:
        super().__init__(f"{error['code']}: {error['message']}")
        self.status = status
        #: Seconds after which it makes sense to try again, where the service says so.
        self.retry_after = retry_after
        #: Stable: switch on it.
        self.code: str = error["code"]
        self.message: str = error["message"]
        #: The broken fields, each with `field`, `message` and sometimes `code`.
        self.details: list[ErrorDetail] = error.get("details", [])
        #: What a 402 is about: `needed`, `remaining`, and `renews_at`, when the plan's next credits come.
        self.credits: CreditLack | None = error.get("credits")
        self.request_id: str = error.get("request_id", "")
        self.docs_url: str = error.get("docs_url", "")


class ImageFailedError(Exception):
    """A card could not be made. The message is for people."""

    def __init__(self, image: FailedImage) -> None:
        super().__init__(image["failure"]["message"])
        self.image = image
        #: Why, for programs; such as "no_player".
        self.reason: str | None = image["failure"].get("reason")
        #: What helps, in one sentence.
        self.hint: str | None = image["failure"].get("hint")


class NoAnswerError(Exception):
    """Nothing usable came back, also when the call was sent again."""


class WebhookSignatureError(Exception):
    """A webhook that this service did not sign, or not lately."""
