// Recorded by test/reference.test.ts. To record it again, run: npx vitest run test/reference.test.ts -u
import type { Examples } from '../types.ts'

export const examples: Examples = {
  "checkToken": [
    {
      "title": "Success",
      "request": {
        "path": "/public/api/v1/token/check"
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "The key is valid",
          "organization_id": "org_01kjt5r2g0e0t8vz1q0m3w0001",
          "data": {
            "organization_id": "org_01kjt5r2g0e0t8vz1q0m3w0001",
            "organization_name": "Acme",
            "scopes": [
              "contacts:write",
              "flows:send",
              "analytics:read"
            ]
          }
        }
      }
    }
  ],
  "addGroupMembers": [
    {
      "title": "Success",
      "request": {
        "path": "/public/api/v1/contacts/add-group-members",
        "body": {
          "group_id": "grp_01kjt5r2g0e0t8vz1q0m3w0001",
          "members": [
            {
              "email": "ada@example.com",
              "first_name": "Ada",
              "attributes": {
                "plan": "pro"
              }
            },
            {
              "email": "grace@example.com",
              "first_name": "Grace"
            },
            {
              "email": "alan@",
              "first_name": "Alan"
            }
          ]
        }
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "OK",
          "data": {
            "group_id": "grp_01kjt5r2g0e0t8vz1q0m3w0001",
            "received": 3,
            "created": 2,
            "updated": 0,
            "added": 2,
            "already_members": 0,
            "rejected": [
              {
                "index": 2,
                "email": "alan@",
                "problem": "email is not a valid email address"
              }
            ]
          }
        }
      }
    },
    {
      "title": "not_found",
      "request": {
        "path": "/public/api/v1/contacts/add-group-members",
        "body": {
          "group_id": "grp_01kjt5r2g0e0t8vz1q0m3w0002",
          "members": [
            {
              "email": "ada@example.com"
            }
          ]
        }
      },
      "response": {
        "status": 404,
        "body": {
          "code": 404,
          "status": "error",
          "message": "Group not found.",
          "data": null,
          "error": {
            "type": "not_found",
            "fields": [],
            "request_id": "req_5d0c8f1e9a4b7c26000001"
          }
        }
      }
    }
  ],
  "cancelEmail": [
    {
      "title": "Success",
      "request": {
        "path": "/public/api/v1/messages/msg_01kjt5r2g0e0t8vz1q0m3w0001",
        "params": {
          "id": "msg_01kjt5r2g0e0t8vz1q0m3w0001"
        }
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "Email cancelled",
          "data": {
            "message_id": "msg_01kjt5r2g0e0t8vz1q0m3w0001",
            "status": "cancelled"
          }
        }
      }
    }
  ],
  "sendEmailThroughFlow": [
    {
      "title": "Email queued",
      "request": {
        "path": "/public/api/v1/flow/send-email-through-flow",
        "headers": {
          "Idempotency-Key": "order-1042-shipped"
        },
        "body": {
          "flow_id": "flw_01kjt5r2g0e0t8vz1q0m3w0001",
          "contact_email": "ada@example.com",
          "context": {
            "order_id": 1042
          }
        }
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "Email queued",
          "data": {
            "message_id": "msg_01kjt5r2g0e0t8vz1q0m3w0002",
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
    },
    {
      "title": "Same request again",
      "request": {
        "path": "/public/api/v1/flow/send-email-through-flow",
        "headers": {
          "Idempotency-Key": "order-1042-shipped"
        },
        "body": {
          "flow_id": "flw_01kjt5r2g0e0t8vz1q0m3w0001",
          "contact_email": "ada@example.com",
          "context": {
            "order_id": 1042
          }
        }
      },
      "response": {
        "status": 200,
        "headers": {
          "idempotent-replayed": "true"
        },
        "body": {
          "code": 200,
          "status": "success",
          "message": "Email queued",
          "data": {
            "message_id": "msg_01kjt5r2g0e0t8vz1q0m3w0002",
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
    },
    {
      "title": "Suppressed address",
      "request": {
        "path": "/public/api/v1/flow/send-email-through-flow",
        "body": {
          "flow_id": "flw_01kjt5r2g0e0t8vz1q0m3w0001",
          "contact_email": "bob@example.com",
          "context": {
            "order_id": 1042
          }
        }
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "Email not sent",
          "data": {
            "message_id": "msg_01kjt5r2g0e0t8vz1q0m3w0003",
            "flow_id": "flw_01kjt5r2g0e0t8vz1q0m3w0001",
            "contact_id": "con_01kjt5r2g0e0t8vz1q0m3w0002",
            "contact_email": "bob@example.com",
            "contact_created": true,
            "status": "suppressed",
            "reason": "manual",
            "queued_at": "2026-03-02T10:15:00.120Z",
            "send_at": null,
            "warnings": []
          }
        }
      }
    },
    {
      "title": "missing_variables",
      "request": {
        "path": "/public/api/v1/flow/send-email-through-flow",
        "body": {
          "flow_id": "flw_01kjt5r2g0e0t8vz1q0m3w0001",
          "contact_email": "ada@example.com",
          "context": {}
        }
      },
      "response": {
        "status": 422,
        "body": {
          "code": 422,
          "status": "error",
          "message": "The template requires order_id. Add it to the context.",
          "data": null,
          "error": {
            "type": "missing_variables",
            "fields": [
              {
                "path": "context.order_id",
                "problem": "is required by the template and has no default"
              }
            ],
            "request_id": "req_5d0c8f1e9a4b7c26000001"
          }
        }
      }
    },
    {
      "title": "idempotency_key_reused",
      "request": {
        "path": "/public/api/v1/flow/send-email-through-flow",
        "headers": {
          "Idempotency-Key": "order-1042-shipped"
        },
        "body": {
          "flow_id": "flw_01kjt5r2g0e0t8vz1q0m3w0001",
          "contact_email": "grace@example.com",
          "context": {
            "order_id": 1042
          }
        }
      },
      "response": {
        "status": 409,
        "body": {
          "code": 409,
          "status": "error",
          "message": "This Idempotency-Key was used with a different request. Use a new key.",
          "data": null,
          "error": {
            "type": "idempotency_key_reused",
            "fields": [],
            "request_id": "req_5d0c8f1e9a4b7c26000001"
          }
        }
      }
    },
    {
      "title": "Scheduled email",
      "request": {
        "path": "/public/api/v1/flow/send-email-through-flow",
        "body": {
          "flow_id": "flw_01kjt5r2g0e0t8vz1q0m3w0001",
          "contact_email": "ada@example.com",
          "context": {
            "order_id": 1042
          },
          "send_at": "2026-03-03T08:00:00.000Z"
        }
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "Email scheduled",
          "data": {
            "message_id": "msg_01kjt5r2g0e0t8vz1q0m3w0001",
            "flow_id": "flw_01kjt5r2g0e0t8vz1q0m3w0001",
            "contact_id": "con_01kjt5r2g0e0t8vz1q0m3w0001",
            "contact_email": "ada@example.com",
            "contact_created": false,
            "status": "scheduled",
            "reason": null,
            "queued_at": "2026-03-02T10:15:00.120Z",
            "send_at": "2026-03-03T08:00:00.000Z",
            "warnings": []
          }
        }
      }
    }
  ],
  "getEmailEventMetric": [
    {
      "title": "Success",
      "request": {
        "path": "/public/api/v1/analytics/metrics/get-email-event-metric",
        "query": {
          "event_name": "emailClick",
          "start_date": "2026-03-01",
          "end_date": "2026-03-02",
          "flow_id": "flw_01kjt5r2g0e0t8vz1q0m3w0001"
        }
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "OK",
          "data": {
            "event_name": "emailClick",
            "start_date": "2026-03-01",
            "end_date": "2026-03-02",
            "timezone": "UTC",
            "total": 1,
            "unique": 1,
            "machine": 0,
            "series": [
              {
                "date": "2026-03-01",
                "total": 0,
                "unique": 0,
                "machine": 0
              },
              {
                "date": "2026-03-02",
                "total": 1,
                "unique": 1,
                "machine": 0
              }
            ]
          }
        }
      }
    },
    {
      "title": "validation_failed",
      "request": {
        "path": "/public/api/v1/analytics/metrics/get-email-event-metric",
        "query": {
          "event_name": "emailClick",
          "start_date": "2026-03-31",
          "end_date": "2026-03-01"
        }
      },
      "response": {
        "status": 422,
        "body": {
          "code": 422,
          "status": "error",
          "message": "end_date: must not be before start_date (2026-03-31)",
          "data": null,
          "error": {
            "type": "validation_failed",
            "fields": [
              {
                "path": "end_date",
                "problem": "must not be before start_date (2026-03-31)"
              }
            ],
            "request_id": "req_5d0c8f1e9a4b7c26000001"
          }
        }
      }
    }
  ]
}
