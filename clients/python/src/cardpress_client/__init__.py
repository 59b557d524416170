"""Football player cards: the API of a cardpress service.

    cards = Cardpress("https://cards.example.org", api_key=os.environ["CARDPRESS_KEY"])
    card = cards.create_and_wait({"player": {...}, "style": {"preset": "club_card"}})
    print(card["result"]["image_url"])
"""

from __future__ import annotations

import time
import uuid
from typing import Callable, Literal, TypeVar, cast, overload

from ._transport import RETRIES, TIMEOUT_S, Transport
from .errors import CardpressError, ImageFailedError, NoAnswerError, WebhookSignatureError
from .operations import Operations
from .signing import signed_card_url
from .types import (
    AcceptedBatch,
    AcceptedImage,
    BatchCard,
    BatchDetail,
    CompletedImage,
    CreateBatchRequest,
    CreateImageRequest,
    FailedImage,
    Image,
    Photo,
)
from .webhooks import read_webhook

__all__ = [
    "Cardpress",
    "CardpressError",
    "ImageFailedError",
    "NoAnswerError",
    "WebhookSignatureError",
    "read_webhook",
    "signed_card_url",
]

BATCH_PAUSE_S = 1.0


class Cardpress(Operations):
    """The API of the service at an address, with one key. Refusals are raised as CardpressError; what may succeed
    later (429, 5xx, broken connections) is sent again first, with the same idempotency key."""

    def __init__(
        self,
        base_url: str,
        api_key: str,
        *,
        retries: int = RETRIES,
        timeout: float = TIMEOUT_S,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._transport = Transport(base_url, api_key, retries, timeout, sleep)

    @overload
    def create_image(
        self, body: CreateImageRequest, *, idempotency_key: str | None = None, wait: None = None
    ) -> AcceptedImage: ...

    @overload
    def create_image(
        self, body: CreateImageRequest, *, idempotency_key: str | None = None, wait: int
    ) -> Image | AcceptedImage: ...

    def create_image(
        self, body: CreateImageRequest, *, idempotency_key: str | None = None, wait: int | None = None
    ) -> Image | AcceptedImage:
        """Create an image. See Operations.create_image; `type` may be left out."""
        return super().create_image(_typed(body), idempotency_key=idempotency_key, wait=wait)

    def create_batch(self, body: CreateBatchRequest, *, idempotency_key: str | None = None) -> AcceptedBatch:
        """Create a batch. See Operations.create_batch; `type` of each card may be left out."""
        squad = cast(CreateBatchRequest, {**body, "cards": [_typed(card) for card in body["cards"]]})
        return super().create_batch(squad, idempotency_key=idempotency_key)

    def create_and_wait(
        self, card: CreateImageRequest, *, idempotency_key: str | None = None, timeout: float = 300
    ) -> CompletedImage:
        """Makes a card and waits for it. Raises ImageFailedError when it cannot be made, and TimeoutError when
        `timeout` seconds are over: the card is made all the same, and the same key gives it."""
        ends = time.monotonic() + timeout
        wait = int(min(self._transport.max_wait, timeout)) or None
        image = cast("Image | AcceptedImage", self.create_image(card, idempotency_key=idempotency_key, wait=wait))
        if image["status"] != "processing":
            return _completed(image)
        made = self.wait_for_image(image["image_id"], timeout=ends - time.monotonic())
        made["replayed"] = image.get("replayed", False)
        return made

    def wait_for_image(self, image_id: str, *, timeout: float = 300) -> CompletedImage:
        """Waits until a card has ended. Raises ImageFailedError and TimeoutError."""
        ends = time.monotonic() + timeout
        while True:
            began = time.monotonic()
            image = self.get_image(image_id, wait=int(min(self._transport.max_wait, ends - began)) or None)
            if image["status"] != "processing":
                return _completed(image)
            if time.monotonic() >= ends:
                raise TimeoutError(f"the card {image_id} was not ready within {timeout:.0f} seconds")
            # A busy service may answer at once.
            self._transport.sleep(max(0.0, 1 - (time.monotonic() - began)))

    def wait_for_batch(
        self,
        batch_id: str,
        *,
        timeout: float = 7200,
        on_progress: Callable[[BatchDetail], None] = lambda batch: None,
    ) -> BatchDetail:
        """Waits until every card of a batch has ended; failed ones have a `failure`. Raises TimeoutError."""
        ends = time.monotonic() + timeout
        while True:
            batch = self.get_batch(batch_id)
            on_progress(batch)
            if batch["processing"] == 0:
                return batch
            if time.monotonic() >= ends:
                raise TimeoutError(f"the batch {batch_id} was not ready within {timeout:.0f} seconds")
            self._transport.sleep(BATCH_PAUSE_S)

    def upload_photo(self, content: bytes, *, use: Literal["photo", "badge"] = "photo", filename: str = "photo") -> Photo:
        """Sends a photo or badge that you do not host; `url` of the answer is its address in a card."""
        boundary = uuid.uuid4().hex
        name = filename.replace('"', "%22").replace("\r", "").replace("\n", "")
        head = (
            f'--{boundary}\r\nContent-Disposition: form-data; name="use"\r\n\r\n{use}\r\n'
            f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'
            "Content-Type: application/octet-stream\r\n\r\n"
        )
        data = head.encode() + content + f"\r\n--{boundary}--\r\n".encode()
        form = (data, f"multipart/form-data; boundary={boundary}")
        # Sent again, it is the same photo.
        return cast(Photo, self._transport.call("POST", "/v1/photos", form=form))


Card = TypeVar("Card", CreateImageRequest, BatchCard)


def _typed(card: Card) -> Card:
    return cast(Card, {"type": "player_card", **card})


def _completed(image: CompletedImage | FailedImage) -> CompletedImage:
    if image["status"] == "failed":
        raise ImageFailedError(image)
    return image
