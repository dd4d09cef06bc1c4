// Recorded by test/reference.test.ts. To record it again, run: npx vitest run test/reference.test.ts -u
import type { Examples } from '../types.ts'

export const examples: Examples = {
  "listWebhookDeliveries": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/webhooks/whk_01kjt5r2g0e0t8vz1q0m3w0001/deliveries",
        "params": {
          "id": "whk_01kjt5r2g0e0t8vz1q0m3w0001"
        },
        "query": {
          "status": "failed"
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
              "id": "dlv_01kjt5r2g0e0t8vz1q0m3w0002",
              "webhook_id": "whk_01kjt5r2g0e0t8vz1q0m3w0001",
              "event_id": "evt_01kjt5r2g0e0t8vz1q0m3w0006",
              "event_name": "contactUnsubscribe",
              "is_test": false,
              "status": "failed",
              "attempt_count": 1,
              "next_attempt_at": null,
              "reason": "Responded 410 (not retried)",
              "created_at": "2026-03-02T09:30:00.000Z",
              "delivered_at": null
            }
          ],
          "next_cursor": null
        }
      }
    }
  ],
  "getDelivery": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/deliveries/dlv_01kjt5r2g0e0t8vz1q0m3w0002",
        "params": {
          "id": "dlv_01kjt5r2g0e0t8vz1q0m3w0002"
        }
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "OK",
          "data": {
            "id": "dlv_01kjt5r2g0e0t8vz1q0m3w0002",
            "webhook_id": "whk_01kjt5r2g0e0t8vz1q0m3w0001",
            "event_id": "evt_01kjt5r2g0e0t8vz1q0m3w0006",
            "event_name": "contactUnsubscribe",
            "is_test": false,
            "status": "failed",
            "attempt_count": 1,
            "next_attempt_at": null,
            "reason": "Responded 410 (not retried)",
            "created_at": "2026-03-02T09:30:00.000Z",
            "delivered_at": null,
            "payload": "{\"event_name\":\"contactUnsubscribe\",\"organization_id\":\"org_01kjt5r2g0e0t8vz1q0m3w0001\",\"timestamp\":1772446500,\"data\":{\"event_id\":\"evt_01kjt5r2g0e0t8vz1q0m3w0006\",\"message_id\":null,\"flow_id\":null,\"contact\":{\"id\":\"con_01kjt5r2g0e0t8vz1q0m3w0001\",\"email\":\"ada@example.com\",\"first_name\":\"Ada\"},\"method\":\"api\"}}",
            "attempts": [
              {
                "number": 1,
                "at": "2026-03-02T10:15:00.731Z",
                "duration_ms": 84,
                "status_code": 410,
                "outcome": "refused",
                "reason": "Responded 410 (not retried)",
                "response_body": "",
                "request_headers": {
                  "Content-Type": "application/json",
                  "X-Service-Event": "contactUnsubscribe",
                  "X-Service-Signature": "t=1772446500,v1=0c6a1c1a5cbbb6f0d2c2ad3b0f6f3f4f3a2b9d1f9d6ec1c2a52f1b7b3f0a9e41",
                  "webhook-id": "dlv_01kjt5r2g0e0t8vz1q0m3w0002",
                  "webhook-timestamp": "1772446500"
                }
              }
            ]
          }
        }
      }
    }
  ],
  "replayDelivery": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/deliveries/dlv_01kjt5r2g0e0t8vz1q0m3w0002/replay",
        "params": {
          "id": "dlv_01kjt5r2g0e0t8vz1q0m3w0002"
        }
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "OK",
          "data": {
            "replayed": 1
          }
        }
      }
    }
  ],
  "replayWebhookDeliveries": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/webhooks/whk_01kjt5r2g0e0t8vz1q0m3w0001/replay",
        "params": {
          "id": "whk_01kjt5r2g0e0t8vz1q0m3w0001"
        },
        "body": {
          "since": "2026-03-01T00:00:00Z"
        }
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "OK",
          "data": {
            "replayed": 0
          }
        }
      }
    }
  ]
}
