"""Receives webhooks: verifies each delivery, and handles each event once. Needs Python 3.10 or newer and nothing else."""

import hashlib
import hmac
import json
import os
import re
import time
from collections import OrderedDict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOLERANCE_SECONDS = 300
BODY_BYTES_MAX = 1024 * 1024
# Remembers the last deliveries. If several processes receive webhooks, keep the ids in a database instead.
REMEMBERED_MAX = 10_000

remembered: OrderedDict[str, None] = OrderedDict()


def is_from_waxwing(raw_body: bytes, header: str, secret: str, now: int | None = None) -> bool:
    """Returns whether the body, exactly as received, was signed with the secret within the last five minutes."""
    parts = [part.partition("=") for part in header.split(",")]
    t = next((value for name, _, value in parts if name == "t"), "")
    if not re.fullmatch("[0-9]{1,12}", t):
        return False
    if abs((int(time.time()) if now is None else now) - int(t)) > TOLERANCE_SECONDS:
        return False
    expected = hmac.new(secret.encode(), t.encode() + b"." + raw_body, hashlib.sha256).hexdigest()
    return any(
        name == "v1" and hmac.compare_digest(value.encode(), expected.encode()) for name, _, value in parts
    )


def receive(raw_body: bytes, signature: str, delivery_id: str, secret: str, now: int | None = None) -> int:
    """Returns the status of the response. Only 200 acknowledges a delivery; after a 4xx it is not tried again."""
    if not is_from_waxwing(raw_body, signature, secret, now):
        return 400
    if delivery_id not in remembered:
        handle(json.loads(raw_body))
        remembered[delivery_id] = None
        if len(remembered) > REMEMBERED_MAX:
            remembered.popitem(last=False)
    return 200


def handle(event: dict) -> None:
    """Answer within ten seconds: slow work belongs into a queue."""
    data = event["data"]
    email = data["contact"]["email"]
    if event["event_name"] == "emailClick":
        print(f"{email} clicked {data['url']}", flush=True)
    elif event["event_name"] in ("emailHardBounce", "emailSoftBounce"):
        print(f"{email} bounced: {data['bounce']['reason']}", flush=True)
    else:
        # New events may be added: acknowledge those you do not know.
        print(f"{event['event_name']} for {email}", flush=True)


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        if length > BODY_BYTES_MAX:
            self.send_error(413)
            return
        signature = self.headers.get("X-Service-Signature", "")
        delivery_id = self.headers.get("webhook-id", "")
        self.send_response(receive(self.rfile.read(length), signature, delivery_id, os.environ["WAXWING_SECRET"]))
        self.end_headers()


if __name__ == "__main__":
    port = int(os.environ.get("PORT", "8080"))
    print(f"Waiting for webhooks on port {port}", flush=True)
    ThreadingHTTPServer(("127.0.0.1", port), Receiver).serve_forever()
