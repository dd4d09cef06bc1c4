// Recorded by test/reference.test.ts. To record it again, run: npx vitest run test/reference.test.ts -u
import type { Examples } from '../types.ts'

export const examples: Examples = {
  "getSendingStatus": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/sending"
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "OK",
          "data": {
            "details": true,
            "transport": "inbox",
            "relay": null,
            "mail_from": "hello@acme.example",
            "state": "ok",
            "last_error": null,
            "next_attempt_at": null,
            "paused_since": null,
            "last_sent_at": "2026-03-02T10:15:00.480Z",
            "queued": 0,
            "problems": [],
            "dkim": null,
            "bounce_domain": null,
            "bounce_providers": [
              "Amazon SES",
              "SendGrid",
              "Mailgun",
              "Postmark"
            ],
            "records": [
              {
                "type": "TXT",
                "name": "_dmarc.acme.example",
                "value": "v=DMARC1; p=none",
                "purpose": "DMARC",
                "status": "unchecked",
                "found": null
              }
            ],
            "checked_at": null
          }
        }
      }
    }
  ],
  "checkSending": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/sending/check"
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "OK",
          "data": {
            "details": true,
            "transport": "inbox",
            "relay": null,
            "mail_from": "hello@acme.example",
            "state": "ok",
            "last_error": null,
            "next_attempt_at": null,
            "paused_since": null,
            "last_sent_at": "2026-03-02T10:15:00.480Z",
            "queued": 0,
            "problems": [],
            "dkim": null,
            "bounce_domain": null,
            "bounce_providers": [
              "Amazon SES",
              "SendGrid",
              "Mailgun",
              "Postmark"
            ],
            "records": [
              {
                "type": "TXT",
                "name": "_dmarc.acme.example",
                "value": "v=DMARC1; p=none",
                "purpose": "DMARC",
                "status": "missing",
                "found": null
              }
            ],
            "checked_at": "2026-03-02T09:30:00.000Z"
          }
        }
      }
    }
  ]
}
