import inspect
import json, sys, time
from datetime import datetime, timezone

from cardpress_client import (
    Cardpress,
    CardpressError,
    ImageFailedError,
    NoAnswerError,
    WebhookSignatureError,
    read_webhook,
    signed_card_url,
)

given = json.load(sys.stdin)
pauses = []
cards = Cardpress(given["url"], given["key"], sleep=lambda seconds: (pauses.append(seconds), time.sleep(0.01)))
order = given["order"]
report = {}

report["presets"] = [preset["name"] for preset in cards.list_presets()["presets"]]
report["card"] = cards.create_and_wait(order, idempotency_key="first")
report["again"] = cards.create_and_wait(order, idempotency_key="first")["image_id"]
report["replayed"] = [
    report["card"]["replayed"],
    cards.create_and_wait(order, idempotency_key="first")["replayed"],
    cards.create_image({"type": "player_card", **order}, idempotency_key="first")["replayed"],
]
waited = cards.create_image(order, wait=5)
report["waited"] = [waited["status"], waited["replayed"]]
try:
    cards.create_and_wait({**order, "player": {**order["player"], "external_id": "test_fail_several_people"}})
except ImageFailedError as failed:
    report["failed"] = [str(failed), failed.reason, failed.hint]
try:
    cards.create_image({**order, "player": {**order["player"], "number": 0}})
except CardpressError as refused:
    report["refused"] = [refused.status, refused.code, refused.details[0]["field"], refused.request_id]
try:
    cards.create_image({**order, "player": {**order["player"], "external_id": "test_insufficient_credits"}})
except CardpressError as refused:
    report["credits"] = refused.credits

batch = cards.create_batch(
    {"name": "Squad", "cards": [{**order, "player": {**order["player"], "external_id": f"b{n}"}} for n in range(3)]}
)
seen = []
report["batch"] = cards.wait_for_batch(batch["batch_id"], on_progress=seen.append)["completed"]
report["seen"] = len(seen) > 0
report["zip"] = cards.get_batch_pictures(batch["batch_id"])[:2].decode()
report["current"] = [image["external_id"] for image in cards.every_image(current=True)]
report["every"] = [image["external_id"] for image in cards.every_image(limit=2, metadata={"season": "2026"})]
players = [{"external_id": "player-1", "name": "Maya"}]
cards.create_set({"name": "Spare", "parallels": [{"name": "base", "size": None}], "players": players})
series = cards.create_set({"name": "Season", "parallels": [{"name": "gold", "size": 2}], "players": players})
place = {"id": series["set_id"], "parallel": "gold"}
numbered = {**order, "set": place, "style": {**order["style"], "width": 815, "height": 1110}}
deck = cards.create_batch({"cards": [numbered]})
cards.wait_for_batch(deck["batch_id"])
report["set"] = cards.get_batch(deck["batch_id"])["images"][0]["set"]
report["pdf"] = cards.print_batch(deck["batch_id"], {"sheet": "a4"})[:5].decode()
report["walked"] = {
    "batches": len(list(cards.every_batch(limit=1))),
    "sets": len(list(cards.every_set(limit=1))),
    "consents": len(list(cards.every_consent())),
    "events": len(list(cards.every_event(limit=2))) > 2,
}
report["photo"] = cards.upload_photo(open(given["photo"], "rb").read(), filename='y"oga.jpg')["url"]
report["endpoint"] = cards.create_webhook_endpoint({"url": given["hook"]})["secret"][:6]
report["usage"] = cards.get_usage("current_month")["environment"]

pauses.clear()
flaky = Cardpress(given["flaky"], given["key"], sleep=lambda seconds: pauses.append(seconds))
report["flaky"] = flaky.create_image(order)["status"]
report["pauses"] = pauses[:]
try:
    flaky.create_webhook_endpoint({"url": given["hook"]})
except CardpressError as refused:
    report["once"] = refused.code
    report["retry_after"] = refused.retry_after
try:
    report["cut"] = flaky.print_image("img_1").decode()
except NoAnswerError as nothing:
    report["cut"] = str(nothing)
try:
    Cardpress(given["dead"], given["key"], retries=1, sleep=pauses.append).list_presets()
except NoAnswerError as nothing:
    report["dead"] = str(nothing)

hook = given["webhook"]
report["event"] = read_webhook(hook["secret"], hook["headers"], hook["body"].encode())["type"]
report["forged"] = []
for headers, body in [
    (hook["headers"], hook["body"].replace("img_1", "img_2")),
    ({**hook["headers"], "webhook-timestamp": "1"}, hook["body"]),
    ({}, hook["body"]),
]:
    try:
        read_webhook(hook["secret"], headers, body.encode())
    except WebhookSignatureError as forged:
        report["forged"].append(str(forged))

report["secrets"] = []
for secret in ["", "whsec_", "whsec_c2hvcnQ=", hook["secret"].removeprefix("whsec_")]:
    try:
        read_webhook(secret, hook["headers"], hook["body"].encode())
    except ValueError as useless:
        report["secrets"].append(str(useless))

try:
    cards.redeliver_event("evt_7Wc2Lk9VbTnX0Hq3ZrXm5dYE")
except CardpressError as refused:
    report["redelivered"] = refused.code

report["options"] = [list(inspect.signature(one).parameters) for one in (Cardpress.create_image, Cardpress.create_batch)]

signed = given["signed"]
own = {"base_url": given["url"], "key_id": signed["keyId"], "secret": signed["secret"]}
card = {"preset": "club_card", **signed["card"]}
report["address"] = signed_card_url(card, expires=signed["exp"], **own)
report["dated"] = signed_card_url(card, expires=datetime.fromtimestamp(signed["exp"], timezone.utc), **own)
print(json.dumps(report))
