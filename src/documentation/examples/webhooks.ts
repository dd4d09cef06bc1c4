// Recorded by test/reference.test.ts. To record it again, run: npx vitest run test/reference.test.ts -u
import type { Examples } from '../types.ts'

export const examples: Examples = {
  "listWebhooks": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/webhooks"
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "OK",
          "data": [
            {
              "id": "whk_01kjt5r2g0e0t8vz1q0m3w0001",
              "name": "CRM",
              "url": "https://crm.example.com/waxwing",
              "event_types": [
                "emailOpen",
                "emailClick",
                "contactUnsubscribe"
              ],
              "all_events": false,
              "status": "active",
              "paused_reason": null,
              "acknowledge": "200",
              "retry_4xx": [],
              "retry_schedule": "standard",
              "created_at": "2026-03-02T09:30:00.000Z",
              "updated_at": "2026-03-02T09:41:12.000Z",
              "last_delivery_at": "2026-03-02T10:15:00.815Z",
              "failing_since": null,
              "secret_rotation_ends_at": null,
              "created_by": {
                "id": "usr_01kjt5r2g0e0t8vz1q0m3w0002",
                "email": "owner@acme.example"
              },
              "stats_24h": {
                "delivered": 1,
                "failed": 0,
                "pending": 0
              }
            }
          ]
        }
      }
    }
  ],
  "createWebhook": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/webhooks",
        "body": {
          "name": "CRM",
          "url": "https://crm.example.com/waxwing",
          "event_types": [
            "emailOpen",
            "emailClick",
            "contactUnsubscribe"
          ]
        }
      },
      "response": {
        "status": 201,
        "body": {
          "code": 201,
          "status": "success",
          "message": "Created",
          "data": {
            "id": "whk_01kjt5r2g0e0t8vz1q0m3w0001",
            "name": "CRM",
            "url": "https://crm.example.com/waxwing",
            "event_types": [
              "emailOpen",
              "emailClick",
              "contactUnsubscribe"
            ],
            "all_events": false,
            "status": "active",
            "paused_reason": null,
            "acknowledge": "200",
            "retry_4xx": [],
            "retry_schedule": "standard",
            "created_at": "2026-03-02T09:30:00.000Z",
            "updated_at": "2026-03-02T09:41:12.000Z",
            "last_delivery_at": null,
            "failing_since": null,
            "secret_rotation_ends_at": null,
            "created_by": {
              "id": "usr_01kjt5r2g0e0t8vz1q0m3w0002",
              "email": "owner@acme.example"
            },
            "stats_24h": {
              "delivered": 0,
              "failed": 0,
              "pending": 0
            },
            "signing_secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw2mFJkTqK7Xs="
          }
        }
      }
    },
    {
      "title": "validation_failed",
      "request": {
        "path": "/api/v1/organization/webhooks",
        "body": {
          "name": "CRM",
          "url": "https://crm.example.com/waxwing",
          "event_types": [
            "emailOpened"
          ]
        }
      },
      "response": {
        "status": 422,
        "body": {
          "code": 422,
          "status": "error",
          "message": "event_types.0: must be one of emailSent, emailOpen, emailClick, emailSoftBounce, emailHardBounce, emailComplaint, contactUnsubscribe, contactCreated, contactUpdated, contactSubscribed, broadcastStarted, broadcastFinished.",
          "data": null,
          "error": {
            "type": "validation_failed",
            "fields": [
              {
                "path": "event_types.0",
                "problem": "must be one of emailSent, emailOpen, emailClick, emailSoftBounce, emailHardBounce, emailComplaint, contactUnsubscribe, contactCreated, contactUpdated, contactSubscribed, broadcastStarted, broadcastFinished"
              }
            ],
            "request_id": "req_5d0c8f1e9a4b7c26000001"
          }
        }
      }
    }
  ],
  "listRetrySchedules": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/webhooks/retry-schedules"
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "OK",
          "data": [
            {
              "name": "standard",
              "delays_seconds": [
                30,
                60,
                120
              ],
              "in_words": "3 times over 3.5 minutes"
            },
            {
              "name": "extended",
              "delays_seconds": [
                30,
                300,
                1800,
                7200,
                18000,
                36000,
                36000
              ],
              "in_words": "7 times over about 28 hours"
            }
          ]
        }
      }
    }
  ],
  "getWebhook": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/webhooks/whk_01kjt5r2g0e0t8vz1q0m3w0001",
        "params": {
          "id": "whk_01kjt5r2g0e0t8vz1q0m3w0001"
        }
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "OK",
          "data": {
            "id": "whk_01kjt5r2g0e0t8vz1q0m3w0001",
            "name": "CRM",
            "url": "https://crm.example.com/waxwing",
            "event_types": [
              "emailOpen",
              "emailClick",
              "contactUnsubscribe"
            ],
            "all_events": false,
            "status": "active",
            "paused_reason": null,
            "acknowledge": "200",
            "retry_4xx": [],
            "retry_schedule": "standard",
            "created_at": "2026-03-02T09:30:00.000Z",
            "updated_at": "2026-03-02T09:41:12.000Z",
            "last_delivery_at": "2026-03-02T10:15:00.815Z",
            "failing_since": null,
            "secret_rotation_ends_at": null,
            "created_by": {
              "id": "usr_01kjt5r2g0e0t8vz1q0m3w0002",
              "email": "owner@acme.example"
            },
            "stats_24h": {
              "delivered": 1,
              "failed": 0,
              "pending": 0
            }
          }
        }
      }
    }
  ],
  "updateWebhook": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/webhooks/whk_01kjt5r2g0e0t8vz1q0m3w0001",
        "params": {
          "id": "whk_01kjt5r2g0e0t8vz1q0m3w0001"
        },
        "body": {
          "status": "paused"
        }
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "OK",
          "data": {
            "id": "whk_01kjt5r2g0e0t8vz1q0m3w0001",
            "name": "CRM",
            "url": "https://crm.example.com/waxwing",
            "event_types": [
              "emailOpen",
              "emailClick",
              "contactUnsubscribe"
            ],
            "all_events": false,
            "status": "paused",
            "paused_reason": null,
            "acknowledge": "200",
            "retry_4xx": [],
            "retry_schedule": "standard",
            "created_at": "2026-03-02T09:30:00.000Z",
            "updated_at": "2026-03-02T09:41:12.000Z",
            "last_delivery_at": "2026-03-02T10:15:00.815Z",
            "failing_since": null,
            "secret_rotation_ends_at": null,
            "created_by": {
              "id": "usr_01kjt5r2g0e0t8vz1q0m3w0002",
              "email": "owner@acme.example"
            },
            "stats_24h": {
              "delivered": 1,
              "failed": 0,
              "pending": 0
            }
          }
        }
      }
    }
  ],
  "deleteWebhook": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/webhooks/whk_01kjt5r2g0e0t8vz1q0m3w0001",
        "params": {
          "id": "whk_01kjt5r2g0e0t8vz1q0m3w0001"
        }
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "Webhook deleted",
          "data": null
        }
      }
    }
  ],
  "rotateWebhookSecret": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/webhooks/whk_01kjt5r2g0e0t8vz1q0m3w0001/rotate-secret",
        "params": {
          "id": "whk_01kjt5r2g0e0t8vz1q0m3w0001"
        },
        "body": {
          "overlap_hours": 24
        }
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "OK",
          "data": {
            "id": "whk_01kjt5r2g0e0t8vz1q0m3w0001",
            "name": "CRM",
            "url": "https://crm.example.com/waxwing",
            "event_types": [
              "emailOpen",
              "emailClick",
              "contactUnsubscribe"
            ],
            "all_events": false,
            "status": "paused",
            "paused_reason": null,
            "acknowledge": "200",
            "retry_4xx": [],
            "retry_schedule": "standard",
            "created_at": "2026-03-02T09:30:00.000Z",
            "updated_at": "2026-03-02T09:41:12.000Z",
            "last_delivery_at": "2026-03-02T10:15:00.815Z",
            "failing_since": null,
            "secret_rotation_ends_at": "2026-03-09T09:30:00.000Z",
            "created_by": {
              "id": "usr_01kjt5r2g0e0t8vz1q0m3w0002",
              "email": "owner@acme.example"
            },
            "stats_24h": {
              "delivered": 0,
              "failed": 0,
              "pending": 0
            },
            "signing_secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw2mFJkTqK7Xs="
          }
        }
      }
    }
  ],
  "testWebhook": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/webhooks/whk_01kjt5r2g0e0t8vz1q0m3w0001/test",
        "params": {
          "id": "whk_01kjt5r2g0e0t8vz1q0m3w0001"
        },
        "body": {
          "event_name": "emailClick"
        }
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "OK",
          "data": {
            "delivery_id": "dlv_01kjt5r2g0e0t8vz1q0m3w0001",
            "attempt": {
              "number": 1,
              "at": "2026-03-02T10:15:00.731Z",
              "duration_ms": 84,
              "status_code": 200,
              "outcome": "acknowledged",
              "reason": "Responded 200",
              "response_body": "",
              "request_headers": {
                "Content-Type": "application/json",
                "X-Service-Event": "emailClick",
                "X-Service-Signature": "t=1772446500,v1=0c6a1c1a5cbbb6f0d2c2ad3b0f6f3f4f3a2b9d1f9d6ec1c2a52f1b7b3f0a9e41",
                "webhook-id": "dlv_01kjt5r2g0e0t8vz1q0m3w0001",
                "webhook-timestamp": "1772446500"
              }
            }
          }
        }
      }
    }
  ]
}
