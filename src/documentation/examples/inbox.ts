// Recorded by test/reference.test.ts. To record it again, run: npx vitest run test/reference.test.ts -u
import type { Examples } from '../types.ts'

export const examples: Examples = {
  "listInboxEmails": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/inbox",
        "query": {
          "limit": "1"
        }
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "OK",
          "data": [
            {
              "id": "msg_01kjt5r2g0e0t8vz1q0m3w0002",
              "message_id": "msg_01kjt5r2g0e0t8vz1q0m3w0002",
              "from": "hello@acme.example",
              "to": "ada@example.com",
              "subject": "On its way: 1042",
              "received_at": "2026-03-02T10:15:00.480Z",
              "size_bytes": 1874
            }
          ],
          "next_cursor": "WyIwMTljYWQ2Yi0zZTAwLTdhMWItOGMyZC0zZTRmNWE2YjdjOGQiXQ"
        }
      }
    }
  ],
  "deleteInboxEmails": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/inbox"
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "OK",
          "data": {
            "deleted": 13
          }
        }
      }
    }
  ],
  "getInboxEmail": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/inbox/msg_01kjt5r2g0e0t8vz1q0m3w0002",
        "params": {
          "id": "msg_01kjt5r2g0e0t8vz1q0m3w0002"
        }
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "OK",
          "data": {
            "id": "msg_01kjt5r2g0e0t8vz1q0m3w0002",
            "message_id": "msg_01kjt5r2g0e0t8vz1q0m3w0002",
            "from": "hello@acme.example",
            "to": "ada@example.com",
            "subject": "On its way: 1042",
            "received_at": "2026-03-02T10:15:00.480Z",
            "size_bytes": 1874,
            "html": "<p>Hello Ada,</p><p>your order is on its way. <a href=\"https://mail.example.com/t/c/…\">Track it</a>.</p>…",
            "text": "Hello Ada,\n\nyour order is on its way. Track it [https://mail.example.com/t/c/…].\n",
            "headers": [
              {
                "name": "From",
                "value": "Acme Shop <hello@acme.example>"
              },
              {
                "name": "To",
                "value": "Ada <ada@example.com>"
              },
              {
                "name": "Subject",
                "value": "On its way: 1042"
              }
            ],
            "truncated": false,
            "raw": "From: Acme Shop <hello@acme.example>\r\nTo: ada@example.com\r\nSubject: Your order 1042 is on its way\r\n…"
          }
        }
      }
    }
  ]
}
