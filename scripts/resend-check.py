"""Tries the endpoints that are compatible with Resend, with the official SDK for Python. See docs/guides/resend.md."""

from datetime import datetime, timedelta, timezone

import resend

email = {"from": "Acme <hello@acme.example>", "to": ["ada@example.com"], "subject": "Hello", "html": "<p>Hello!</p>"}
later = (datetime.now(timezone.utc) + timedelta(hours=2)).isoformat()

sent = resend.Emails.send(
    {
        **email,
        "cc": ["ben@example.com"],
        "tags": [{"name": "category", "value": "check"}],
        "attachments": [{"filename": "a.bin", "content": list(range(256))}],
    }
)
print("sent", sent["id"])
print("read", resend.Emails.get(sent["id"])["subject"])
print("batch", len(resend.Batch.send([email, {**email, "to": ["ben@example.com"]}])["data"]))

scheduled = resend.Emails.send({**email, "scheduled_at": later})
resend.Emails.update({"id": scheduled["id"], "scheduled_at": later})
resend.Emails.cancel(scheduled["id"])
print("cancelled", resend.Emails.get(scheduled["id"])["last_event"])
print("domains", len(resend.Domains.list()["data"]))

try:
    resend.Emails.send({**email, "to": ["nobody"]})
except resend.exceptions.ResendError as error:
    print("error", error)
