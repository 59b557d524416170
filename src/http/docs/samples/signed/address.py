import hashlib, hmac, os, time
from urllib.parse import quote

API = "{{base_url}}"
KEY_ID = os.environ["CARDPRESS_KEY_ID"]
SECRET = os.environ["CARDPRESS_SIGNING_SECRET"]


def card_address(preset, card, days=30):
    """The address of a card that is made when somebody opens it."""
    parameters = {**card, "key": KEY_ID, "exp": int(time.time()) + days * 86400}
    pairs = sorted((quote(name, safe=""), quote(str(value), safe="")) for name, value in parameters.items())
    text = f"/v1/render/{preset}?" + "&".join(f"{name}={value}" for name, value in pairs)
    signature = hmac.new(SECRET.encode(), text.encode(), hashlib.sha256).hexdigest()
    return f"{API}{text}&sig={signature}"


print(
    card_address(
        "{{preset}}",
        {
            "external_id": "player-10442",
            "name": "Eileen O'Collins",
            "position": "ST",
            "number": 9,
            "skill_level": 87,
            "photo": f"{API}/docs/samples/player.png",
            "background_theme": "stadium night",
            "format": "jpeg",
        },
    )
)
