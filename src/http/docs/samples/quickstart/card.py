import json, os, time, urllib.error, urllib.request, uuid

API = "{{base_url}}"


def call(path, body=None, headers={}):
    request = urllib.request.Request(
        API + path,
        data=None if body is None else json.dumps(body).encode(),
        headers={"X-API-Key": os.environ["CARDPRESS_KEY"], **headers},
    )
    try:
        with urllib.request.urlopen(request) as response:
            return json.load(response)["data"]
    except urllib.error.HTTPError as refused:
        error = json.load(refused)["error"]
        raise SystemExit(f"{error['code']}: {error['message']} ({error['request_id']})")


image = call(
    "/v1/images",
    {
        "type": "player_card",
        "player": {
            "external_id": "player-10442",
            "name": "Eileen Collins",
            "position": "ST",
            "number": 9,
            "skill_level": 87,
            "source_image_url": f"{API}/docs/samples/player.png",
        },
        "style": {"preset": "{{preset}}", "background_theme": "stadium night"},
    },
    {"Content-Type": "application/json", "Idempotency-Key": str(uuid.uuid4())},
)

while image["status"] == "processing":
    time.sleep(1)
    image = call(f"/v1/images/{image['image_id']}")

if image["status"] == "failed":
    raise SystemExit(image["failure"]["message"])
print(image["result"]["image_url"])
