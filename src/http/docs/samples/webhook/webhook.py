import base64, hashlib, hmac, json, os, sys, time
from http.server import BaseHTTPRequestHandler, HTTPServer

TOLERANCE_SECONDS = 300
SECRET = os.environ.get("CARDPRESS_WEBHOOK_SECRET", "")
# With an empty secret anybody could sign.
if not SECRET.startswith("whsec_") or len(SECRET) < 38:
    sys.exit("CARDPRESS_WEBHOOK_SECRET is not an endpoint's secret.")


def is_genuine(headers, raw_body):
    """Whether the call was signed with the endpoint's secret within the last five minutes."""
    event_id = headers.get("webhook-id", "")
    timestamp = headers.get("webhook-timestamp", "")
    if not timestamp.isdigit() or abs(time.time() - int(timestamp)) > TOLERANCE_SECONDS:
        return False

    key = base64.b64decode(SECRET.removeprefix("whsec_"))
    signed = f"{event_id}.{timestamp}.".encode() + raw_body
    wanted = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    # While a secret is being rotated there are two signatures, one for each secret.
    given = headers.get("webhook-signature", "").split()
    return any(hmac.compare_digest(entry.encode(), wanted.encode()) for entry in given)


class Endpoint(BaseHTTPRequestHandler):
    def do_POST(self):
        raw_body = self.rfile.read(int(self.headers.get("content-length", 0)))
        genuine = is_genuine(self.headers, raw_body)
        if genuine:
            event = json.loads(raw_body)
            # Put it into your own queue here: answer first, work afterwards.
            print(event["type"], event["data"].get("image_id", ""), flush=True)
        self.send_response(204 if genuine else 401)
        self.end_headers()


HTTPServer(("", int(os.environ.get("PORT", "8080"))), Endpoint).serve_forever()
