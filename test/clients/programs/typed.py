import os
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler

from cardpress_client import Cardpress, CardpressError, read_webhook, signed_card_url
from cardpress_client.types import BatchCard, CreateImageRequest

cards = Cardpress("https://cards.example.org", api_key=os.environ["KEY"])
order: CreateImageRequest = {
    "player": {
        "external_id": "player-1",
        "name": "Maya Okafor",
        "position": "ST",
        "number": 9,
        "skill_level": 87,
        "source_image_url": "https://images.example.org/10442.jpg",
    },
    "style": {"preset": "club_card"},
}
accepted = cards.create_image(order, idempotency_key="a")
print(accepted["poll_url"], accepted["replayed"])
waited = cards.create_image(order, wait=10)
if waited["status"] == "completed":
    print(waited["result"]["image_url"])
width: int = cards.create_and_wait(order)["result"]["width"]
card: BatchCard = {
    "player": {
        "external_id": "player-1",
        "name": "Maya Okafor",
        "position": "ST",
        "number": 9,
        "skill_level": 87,
        "source_image_url": "https://images.example.org/10442.jpg",
    },
    "style": {"preset": "club_card"},
}
batch = cards.create_batch({"name": "Squad", "cards": [card]})
print(cards.wait_for_batch(batch["batch_id"])["progress"])
for image in cards.every_image(status="failed"):
    print(image["external_id"])
print(cards.get_usage("current_month")["credits_remaining"])
try:
    cards.get_image("img_1")
except CardpressError as refused:
    if refused.credits is not None:
        print(refused.credits["renews_at"], refused.details[0]["field"])
print(
    signed_card_url(
        {"preset": "club_card", "name": "Maya Okafor", "number": 9, "badge": None},
        base_url="https://cards.example.org",
        key_id="key_1",
        secret="cps_1",
        expires=datetime(2027, 1, 1, tzinfo=timezone.utc),
    )
)


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        event = read_webhook(os.environ["SECRET"], self.headers, body)
        if event["type"] == "image.completed":
            print(event["data"]["result"]["image_url"])
        elif event["type"] == "batch.completed":
            print(event["data"]["batch_id"])
        elif event["type"] == "player.recalled":
            print(event["data"]["external_id"])
