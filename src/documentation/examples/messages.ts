// Recorded by test/reference.test.ts. To record it again, run: npx vitest run test/reference.test.ts -u
import type { Examples } from '../types.ts'

export const examples: Examples = {
  "listMessages": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/messages",
        "query": {
          "status": "sent",
          "query": "ada@example.com"
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
              "flow_id": "flw_01kjt5r2g0e0t8vz1q0m3w0001",
              "flow_name": "Order shipped",
              "contact": {
                "id": "con_01kjt5r2g0e0t8vz1q0m3w0001",
                "email": "ada@example.com"
              },
              "subject": "On its way: 1042",
              "status": "sent",
              "reason": null,
              "is_test": false,
              "queued_at": "2026-03-02T10:15:00.120Z",
              "sent_at": "2026-03-02T10:15:00.480Z",
              "send_at": null,
              "waiting": null,
              "events": [
                {
                  "id": "evt_01kjt5r2g0e0t8vz1q0m3w0003",
                  "event_name": "emailSent",
                  "occurred_at": "2026-03-02T10:15:00.480Z",
                  "machine": false,
                  "machine_reason": null,
                  "data": {}
                },
                {
                  "id": "evt_01kjt5r2g0e0t8vz1q0m3w0004",
                  "event_name": "emailOpen",
                  "occurred_at": "2026-03-02T10:15:00.480Z",
                  "machine": false,
                  "machine_reason": null,
                  "data": {
                    "user_agent": "Mozilla/5.0 (Macintosh; Intel Mac OS X 14_5) AppleWebKit/605.1.15"
                  }
                },
                {
                  "id": "evt_01kjt5r2g0e0t8vz1q0m3w0002",
                  "event_name": "emailClick",
                  "occurred_at": "2026-03-02T10:15:00.480Z",
                  "machine": false,
                  "machine_reason": null,
                  "data": {
                    "url": "https://shop.example.com/orders/1042",
                    "user_agent": "Mozilla/5.0 (Macintosh; Intel Mac OS X 14_5) AppleWebKit/605.1.15"
                  }
                }
              ]
            },
            {
              "id": "msg_01kjt5r2g0e0t8vz1q0m3w0005",
              "flow_id": "flw_01kjt5r2g0e0t8vz1q0m3w0001",
              "flow_name": "Order shipped",
              "contact": {
                "id": "con_01kjt5r2g0e0t8vz1q0m3w0001",
                "email": "ada@example.com"
              },
              "subject": "Your order 1042 is on its way",
              "status": "sent",
              "reason": null,
              "is_test": false,
              "queued_at": "2026-03-02T10:15:00.120Z",
              "sent_at": "2026-03-02T10:15:00.480Z",
              "send_at": null,
              "waiting": null,
              "events": [
                {
                  "id": "evt_01kjt5r2g0e0t8vz1q0m3w0005",
                  "event_name": "emailSent",
                  "occurred_at": "2026-03-02T10:15:00.480Z",
                  "machine": false,
                  "machine_reason": null,
                  "data": {}
                }
              ]
            }
          ],
          "next_cursor": null
        }
      }
    }
  ],
  "getMessage": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/messages/msg_01kjt5r2g0e0t8vz1q0m3w0002",
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
            "flow_id": "flw_01kjt5r2g0e0t8vz1q0m3w0001",
            "flow_name": "Order shipped",
            "contact": {
              "id": "con_01kjt5r2g0e0t8vz1q0m3w0001",
              "email": "ada@example.com"
            },
            "subject": "On its way: 1042",
            "status": "sent",
            "reason": null,
            "is_test": false,
            "queued_at": "2026-03-02T10:15:00.120Z",
            "sent_at": "2026-03-02T10:15:00.480Z",
            "send_at": null,
            "waiting": null,
            "events": [
              {
                "id": "evt_01kjt5r2g0e0t8vz1q0m3w0003",
                "event_name": "emailSent",
                "occurred_at": "2026-03-02T10:15:00.480Z",
                "machine": false,
                "machine_reason": null,
                "data": {}
              },
              {
                "id": "evt_01kjt5r2g0e0t8vz1q0m3w0004",
                "event_name": "emailOpen",
                "occurred_at": "2026-03-02T10:15:00.480Z",
                "machine": false,
                "machine_reason": null,
                "data": {
                  "user_agent": "Mozilla/5.0 (Macintosh; Intel Mac OS X 14_5) AppleWebKit/605.1.15"
                }
              },
              {
                "id": "evt_01kjt5r2g0e0t8vz1q0m3w0002",
                "event_name": "emailClick",
                "occurred_at": "2026-03-02T10:15:00.480Z",
                "machine": false,
                "machine_reason": null,
                "data": {
                  "url": "https://shop.example.com/orders/1042",
                  "user_agent": "Mozilla/5.0 (Macintosh; Intel Mac OS X 14_5) AppleWebKit/605.1.15"
                }
              }
            ],
            "flow_version": 3,
            "from": "Acme Shop <hello@acme.example>",
            "html": "<p>Hello Ada,</p><p>your order is on its way. <a href=\"https://shop.example.com/orders/1042\">Track it</a>.</p>",
            "text": "Hello Ada,\n\nyour order is on its way. Track it [https://shop.example.com/orders/1042].",
            "delivered_to": "inbox",
            "relay_response": null,
            "context": {
              "order_id": 1042
            },
            "in_inbox": true,
            "webhook_deliveries": []
          }
        }
      }
    }
  ],
  "cancelMessage": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/messages/msg_01kjt5r2g0e0t8vz1q0m3w0008",
        "params": {
          "id": "msg_01kjt5r2g0e0t8vz1q0m3w0008"
        }
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "Email cancelled",
          "data": {
            "id": "msg_01kjt5r2g0e0t8vz1q0m3w0008",
            "flow_id": "flw_01kjt5r2g0e0t8vz1q0m3w0001",
            "flow_name": "Order shipped",
            "contact": {
              "id": "con_01kjt5r2g0e0t8vz1q0m3w0001",
              "email": "ada@example.com"
            },
            "subject": "On its way: 1042",
            "status": "cancelled",
            "reason": null,
            "is_test": false,
            "queued_at": "2026-03-02T10:15:00.120Z",
            "sent_at": null,
            "send_at": "2026-03-03T08:00:00.000Z",
            "waiting": null,
            "events": []
          }
        }
      }
    },
    {
      "title": "conflict",
      "request": {
        "path": "/api/v1/organization/messages/msg_01kjt5r2g0e0t8vz1q0m3w0002",
        "params": {
          "id": "msg_01kjt5r2g0e0t8vz1q0m3w0002"
        }
      },
      "response": {
        "status": 409,
        "body": {
          "code": 409,
          "status": "error",
          "message": "This email can no longer be cancelled: it is not queued.",
          "data": null,
          "error": {
            "type": "conflict",
            "fields": [],
            "request_id": "req_5d0c8f1e9a4b7c26000001"
          }
        }
      }
    }
  ],
  "sendMessageAgain": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/messages/msg_01kjt5r2g0e0t8vz1q0m3w0002/send-again",
        "params": {
          "id": "msg_01kjt5r2g0e0t8vz1q0m3w0002"
        }
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "Email queued",
          "data": {
            "message_id": "msg_01kjt5r2g0e0t8vz1q0m3w0009",
            "flow_id": "flw_01kjt5r2g0e0t8vz1q0m3w0001",
            "contact_id": "con_01kjt5r2g0e0t8vz1q0m3w0001",
            "contact_email": "ada@example.com",
            "contact_created": false,
            "status": "queued",
            "reason": null,
            "queued_at": "2026-03-02T10:15:00.120Z",
            "send_at": null,
            "warnings": []
          }
        }
      }
    }
  ]
}
