// Recorded by test/reference.test.ts. To record it again, run: npx vitest run test/reference.test.ts -u
import type { Examples } from '../types.ts'

export const examples: Examples = {
  "listFlows": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/flows",
        "query": {
          "query": "Order"
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
              "id": "flw_01kjt5r2g0e0t8vz1q0m3w0001",
              "name": "Order shipped",
              "kind": "transactional",
              "status": "active",
              "subject": "Your order {{ order_id }} is on its way",
              "version": 2,
              "draft": null,
              "created_at": "2026-03-02T09:30:00.000Z",
              "updated_at": "2026-03-02T09:41:12.000Z",
              "stats_30d": {
                "sent": 0,
                "opens_unique": 0,
                "clicks_unique": 0,
                "bounces": 0
              }
            }
          ],
          "next_cursor": null
        }
      }
    }
  ],
  "createFlow": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/flows",
        "body": {
          "name": "Order shipped",
          "kind": "transactional",
          "subject": "Order {{ order_id }} is on its way",
          "html": "<p>Hello {{ contact.first_name | default: \"there\" }},</p><p>your order is on its way. <a href=\"https://shop.example.com/orders/{{ order_id }}\">Track it</a>.</p>",
          "from_name": "Acme Shop"
        }
      },
      "response": {
        "status": 201,
        "body": {
          "code": 201,
          "status": "success",
          "message": "Created",
          "data": {
            "id": "flw_01kjt5r2g0e0t8vz1q0m3w0001",
            "name": "Order shipped",
            "kind": "transactional",
            "status": "active",
            "version": 1,
            "subject": "Order {{ order_id }} is on its way",
            "html": "<p>Hello {{ contact.first_name | default: \"there\" }},</p><p>your order is on its way. <a href=\"https://shop.example.com/orders/{{ order_id }}\">Track it</a>.</p>",
            "html_format": "html",
            "text": null,
            "from_name": "Acme Shop",
            "from_email": null,
            "reply_to": null,
            "variables": [
              {
                "name": "order_id",
                "has_default": false
              },
              {
                "name": "contact.first_name",
                "has_default": true
              }
            ],
            "draft": null,
            "created_at": "2026-03-02T09:30:00.000Z",
            "updated_at": "2026-03-02T09:41:12.000Z"
          }
        }
      }
    },
    {
      "title": "validation_failed",
      "request": {
        "path": "/api/v1/organization/flows",
        "body": {
          "name": "Order shipped",
          "kind": "transactional",
          "subject": "Order {{ order_id }} is on its way",
          "html": "<p>{{ order_id </p>",
          "from_name": "Acme Shop"
        }
      },
      "response": {
        "status": 422,
        "body": {
          "code": 422,
          "status": "error",
          "message": "html, line 1: \"{{ order_id </p>\" is never closed.",
          "data": null,
          "error": {
            "type": "validation_failed",
            "fields": [
              {
                "path": "html",
                "problem": "\"{{ order_id </p>\" is never closed.",
                "line": 1,
                "column": 4
              }
            ],
            "request_id": "req_5d0c8f1e9a4b7c26000001"
          }
        }
      }
    }
  ],
  "getFlow": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/flows/flw_01kjt5r2g0e0t8vz1q0m3w0001",
        "params": {
          "id": "flw_01kjt5r2g0e0t8vz1q0m3w0001"
        }
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "OK",
          "data": {
            "id": "flw_01kjt5r2g0e0t8vz1q0m3w0001",
            "name": "Order shipped",
            "kind": "transactional",
            "status": "active",
            "version": 1,
            "subject": "Order {{ order_id }} is on its way",
            "html": "<p>Hello {{ contact.first_name | default: \"there\" }},</p><p>your order is on its way. <a href=\"https://shop.example.com/orders/{{ order_id }}\">Track it</a>.</p>",
            "html_format": "html",
            "text": null,
            "from_name": "Acme Shop",
            "from_email": null,
            "reply_to": null,
            "variables": [
              {
                "name": "order_id",
                "has_default": false
              },
              {
                "name": "contact.first_name",
                "has_default": true
              }
            ],
            "draft": null,
            "created_at": "2026-03-02T09:30:00.000Z",
            "updated_at": "2026-03-02T09:41:12.000Z"
          }
        }
      }
    }
  ],
  "updateFlow": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/flows/flw_01kjt5r2g0e0t8vz1q0m3w0001",
        "params": {
          "id": "flw_01kjt5r2g0e0t8vz1q0m3w0001"
        },
        "body": {
          "subject": "Your order {{ order_id }} is on its way",
          "base_version": 1
        }
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "OK",
          "data": {
            "id": "flw_01kjt5r2g0e0t8vz1q0m3w0001",
            "name": "Order shipped",
            "kind": "transactional",
            "status": "active",
            "version": 2,
            "subject": "Your order {{ order_id }} is on its way",
            "html": "<p>Hello {{ contact.first_name | default: \"there\" }},</p><p>your order is on its way. <a href=\"https://shop.example.com/orders/{{ order_id }}\">Track it</a>.</p>",
            "html_format": "html",
            "text": null,
            "from_name": "Acme Shop",
            "from_email": null,
            "reply_to": null,
            "variables": [
              {
                "name": "order_id",
                "has_default": false
              },
              {
                "name": "contact.first_name",
                "has_default": true
              }
            ],
            "draft": null,
            "created_at": "2026-03-02T09:30:00.000Z",
            "updated_at": "2026-03-02T09:41:12.000Z"
          }
        }
      }
    },
    {
      "title": "conflict",
      "request": {
        "path": "/api/v1/organization/flows/flw_01kjt5r2g0e0t8vz1q0m3w0001",
        "params": {
          "id": "flw_01kjt5r2g0e0t8vz1q0m3w0001"
        },
        "body": {
          "subject": "Shipped: {{ order_id }}",
          "base_version": 1
        }
      },
      "response": {
        "status": 409,
        "body": {
          "code": 409,
          "status": "error",
          "message": "Version 2 of this flow was saved in the meantime. Reload it and apply your change again.",
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
  "deleteFlow": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/flows/flw_01kjt5r2g0e0t8vz1q0m3w0003",
        "params": {
          "id": "flw_01kjt5r2g0e0t8vz1q0m3w0003"
        }
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "Flow deleted",
          "data": null
        }
      }
    }
  ],
  "getFlowDraft": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/flows/flw_01kjt5r2g0e0t8vz1q0m3w0001/draft",
        "params": {
          "id": "flw_01kjt5r2g0e0t8vz1q0m3w0001"
        }
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "OK",
          "data": {
            "flow_id": "flw_01kjt5r2g0e0t8vz1q0m3w0001",
            "revision": 1,
            "base_version": 2,
            "updated_at": "2026-03-02T09:41:12.000Z",
            "updated_by": "owner@acme.example",
            "name": "Order shipped",
            "kind": "transactional",
            "subject": "On its way: {{ order_id }}",
            "html": "<p>Hello {{ contact.first_name | default: \"there\" }},</p><p>your order is on its way. <a href=\"https://shop.example.com/orders/{{ order_id }}\">Track it</a>.</p>",
            "html_format": "html",
            "text": null,
            "from_name": "Acme Shop",
            "from_email": null,
            "reply_to": null
          }
        }
      }
    }
  ],
  "saveFlowDraft": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/flows/flw_01kjt5r2g0e0t8vz1q0m3w0001/draft",
        "params": {
          "id": "flw_01kjt5r2g0e0t8vz1q0m3w0001"
        },
        "body": {
          "subject": "On its way: {{ order_id }}",
          "base_revision": 0
        }
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "OK",
          "data": {
            "flow_id": "flw_01kjt5r2g0e0t8vz1q0m3w0001",
            "revision": 1,
            "base_version": 2,
            "updated_at": "2026-03-02T09:41:12.000Z",
            "updated_by": "owner@acme.example",
            "name": "Order shipped",
            "kind": "transactional",
            "subject": "On its way: {{ order_id }}",
            "html": "<p>Hello {{ contact.first_name | default: \"there\" }},</p><p>your order is on its way. <a href=\"https://shop.example.com/orders/{{ order_id }}\">Track it</a>.</p>",
            "html_format": "html",
            "text": null,
            "from_name": "Acme Shop",
            "from_email": null,
            "reply_to": null
          }
        }
      }
    }
  ],
  "discardFlowDraft": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/flows/flw_01kjt5r2g0e0t8vz1q0m3w0001/draft",
        "params": {
          "id": "flw_01kjt5r2g0e0t8vz1q0m3w0001"
        }
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "Draft discarded",
          "data": null
        }
      }
    }
  ],
  "publishFlow": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/flows/flw_01kjt5r2g0e0t8vz1q0m3w0001/publish",
        "params": {
          "id": "flw_01kjt5r2g0e0t8vz1q0m3w0001"
        },
        "body": {
          "base_revision": 1
        }
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "Published",
          "data": {
            "id": "flw_01kjt5r2g0e0t8vz1q0m3w0001",
            "name": "Order shipped",
            "kind": "transactional",
            "status": "active",
            "version": 3,
            "subject": "On its way: {{ order_id }}",
            "html": "<p>Hello {{ contact.first_name | default: \"there\" }},</p><p>your order is on its way. <a href=\"https://shop.example.com/orders/{{ order_id }}\">Track it</a>.</p>",
            "html_format": "html",
            "text": null,
            "from_name": "Acme Shop",
            "from_email": null,
            "reply_to": null,
            "variables": [
              {
                "name": "order_id",
                "has_default": false
              },
              {
                "name": "contact.first_name",
                "has_default": true
              }
            ],
            "draft": null,
            "created_at": "2026-03-02T09:30:00.000Z",
            "updated_at": "2026-03-02T09:41:12.000Z"
          }
        }
      }
    }
  ],
  "duplicateFlow": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/flows/flw_01kjt5r2g0e0t8vz1q0m3w0001/duplicate",
        "params": {
          "id": "flw_01kjt5r2g0e0t8vz1q0m3w0001"
        },
        "body": {
          "name": "Order delivered"
        }
      },
      "response": {
        "status": 201,
        "body": {
          "code": 201,
          "status": "success",
          "message": "Created",
          "data": {
            "id": "flw_01kjt5r2g0e0t8vz1q0m3w0004",
            "name": "Order delivered",
            "kind": "transactional",
            "status": "draft",
            "version": 0,
            "subject": "On its way: {{ order_id }}",
            "html": "<p>Hello {{ contact.first_name | default: \"there\" }},</p><p>your order is on its way. <a href=\"https://shop.example.com/orders/{{ order_id }}\">Track it</a>.</p>",
            "html_format": "html",
            "text": null,
            "from_name": "Acme Shop",
            "from_email": null,
            "reply_to": null,
            "variables": [],
            "draft": {
              "revision": 1,
              "base_version": 0,
              "updated_at": "2026-03-02T09:41:12.000Z"
            },
            "created_at": "2026-03-02T09:30:00.000Z",
            "updated_at": "2026-03-02T09:41:12.000Z"
          }
        }
      }
    }
  ],
  "listFlowVersions": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/flows/flw_01kjt5r2g0e0t8vz1q0m3w0001/versions",
        "params": {
          "id": "flw_01kjt5r2g0e0t8vz1q0m3w0001"
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
              "version": 2,
              "subject": "Your order {{ order_id }} is on its way",
              "created_at": "2026-03-02T09:30:00.000Z",
              "created_by": "owner@acme.example"
            },
            {
              "version": 1,
              "subject": "Order {{ order_id }} is on its way",
              "created_at": "2026-03-02T09:30:00.000Z",
              "created_by": "owner@acme.example"
            }
          ]
        }
      }
    }
  ],
  "getFlowVersion": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/flows/flw_01kjt5r2g0e0t8vz1q0m3w0001/versions/1",
        "params": {
          "id": "flw_01kjt5r2g0e0t8vz1q0m3w0001",
          "version": "1"
        }
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "OK",
          "data": {
            "version": 1,
            "created_at": "2026-03-02T09:30:00.000Z",
            "subject": "Order {{ order_id }} is on its way",
            "html": "<p>Hello {{ contact.first_name | default: \"there\" }},</p><p>your order is on its way. <a href=\"https://shop.example.com/orders/{{ order_id }}\">Track it</a>.</p>",
            "html_format": "html",
            "text": null,
            "from_name": "Acme Shop",
            "from_email": null,
            "reply_to": null,
            "variables": [
              {
                "name": "order_id",
                "has_default": false
              },
              {
                "name": "contact.first_name",
                "has_default": true
              }
            ]
          }
        }
      }
    }
  ],
  "previewTemplate": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/flows/preview",
        "body": {
          "subject": "Hello {{ contact.first_name }}",
          "html": "<p>Your code is {{ code }}.</p>",
          "contact_email": "ada@example.com"
        }
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "OK",
          "data": {
            "subject": "Hello Ada",
            "html": "<p>Your code is .</p>",
            "text": "Your code is .",
            "variables": [
              {
                "name": "contact.first_name",
                "has_default": false
              },
              {
                "name": "code",
                "has_default": false
              }
            ],
            "missing": [
              "code"
            ],
            "problems": [],
            "warnings": []
          }
        }
      }
    }
  ],
  "previewFlow": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/flows/flw_01kjt5r2g0e0t8vz1q0m3w0001/preview",
        "params": {
          "id": "flw_01kjt5r2g0e0t8vz1q0m3w0001"
        },
        "body": {
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
          "message": "OK",
          "data": {
            "subject": "Your order 1042 is on its way",
            "html": "<p>Hello Ada,</p><p>your order is on its way. <a href=\"https://shop.example.com/orders/1042\">Track it</a>.</p>",
            "text": "Hello Ada,\n\nyour order is on its way. Track it [https://shop.example.com/orders/1042].",
            "variables": [
              {
                "name": "order_id",
                "has_default": false
              },
              {
                "name": "contact.first_name",
                "has_default": true
              }
            ],
            "missing": [],
            "problems": [],
            "warnings": []
          }
        }
      }
    }
  ],
  "sendFlow": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/flows/flw_01kjt5r2g0e0t8vz1q0m3w0001/send",
        "params": {
          "id": "flw_01kjt5r2g0e0t8vz1q0m3w0001"
        },
        "body": {
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
            "message_id": "msg_01kjt5r2g0e0t8vz1q0m3w0005",
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
  ],
  "sendTestEmail": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/flows/flw_01kjt5r2g0e0t8vz1q0m3w0001/test",
        "params": {
          "id": "flw_01kjt5r2g0e0t8vz1q0m3w0001"
        },
        "body": {
          "to": [
            "owner@acme.example",
            "eve@acme.example"
          ],
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
          "message": "OK",
          "data": {
            "message_id": "msg_01kjt5r2g0e0t8vz1q0m3w0006",
            "flow_id": "flw_01kjt5r2g0e0t8vz1q0m3w0001",
            "contact_id": null,
            "contact_email": "owner@acme.example",
            "contact_created": false,
            "status": "queued",
            "reason": null,
            "queued_at": "2026-03-02T10:15:00.120Z",
            "send_at": null,
            "warnings": [],
            "emails": [
              {
                "message_id": "msg_01kjt5r2g0e0t8vz1q0m3w0006",
                "flow_id": "flw_01kjt5r2g0e0t8vz1q0m3w0001",
                "contact_id": null,
                "contact_email": "owner@acme.example",
                "contact_created": false,
                "status": "queued",
                "reason": null,
                "queued_at": "2026-03-02T10:15:00.120Z",
                "send_at": null,
                "warnings": []
              },
              {
                "message_id": "msg_01kjt5r2g0e0t8vz1q0m3w0007",
                "flow_id": "flw_01kjt5r2g0e0t8vz1q0m3w0001",
                "contact_id": null,
                "contact_email": "eve@acme.example",
                "contact_created": false,
                "status": "queued",
                "reason": null,
                "queued_at": "2026-03-02T10:15:00.120Z",
                "send_at": null,
                "warnings": []
              }
            ]
          }
        }
      }
    }
  ],
  "getFlowResults": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/flows/flw_01kjt5r2g0e0t8vz1q0m3w0001/results",
        "params": {
          "id": "flw_01kjt5r2g0e0t8vz1q0m3w0001"
        },
        "query": {
          "start_date": "2026-03-01",
          "end_date": "2026-03-02",
          "timezone": "UTC"
        }
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "OK",
          "data": {
            "start_date": "2026-03-01",
            "end_date": "2026-03-02",
            "timezone": "UTC",
            "totals": {
              "emailSent": {
                "total": 3,
                "unique": 3,
                "machine": 0
              },
              "emailOpen": {
                "total": 1,
                "unique": 1,
                "machine": 0
              },
              "emailClick": {
                "total": 1,
                "unique": 1,
                "machine": 0
              },
              "emailSoftBounce": {
                "total": 0,
                "unique": 0,
                "machine": 0
              },
              "emailHardBounce": {
                "total": 0,
                "unique": 0,
                "machine": 0
              },
              "emailComplaint": {
                "total": 0,
                "unique": 0,
                "machine": 0
              },
              "contactUnsubscribe": {
                "total": 0,
                "unique": 0,
                "machine": 0
              }
            },
            "previous": {
              "emailSent": {
                "total": 0,
                "unique": 0,
                "machine": 0
              },
              "emailOpen": {
                "total": 0,
                "unique": 0,
                "machine": 0
              },
              "emailClick": {
                "total": 0,
                "unique": 0,
                "machine": 0
              },
              "emailSoftBounce": {
                "total": 0,
                "unique": 0,
                "machine": 0
              },
              "emailHardBounce": {
                "total": 0,
                "unique": 0,
                "machine": 0
              },
              "emailComplaint": {
                "total": 0,
                "unique": 0,
                "machine": 0
              },
              "contactUnsubscribe": {
                "total": 0,
                "unique": 0,
                "machine": 0
              }
            },
            "days": [
              {
                "date": "2026-03-01",
                "emailSent": {
                  "total": 0,
                  "unique": 0,
                  "machine": 0
                },
                "emailOpen": {
                  "total": 0,
                  "unique": 0,
                  "machine": 0
                },
                "emailClick": {
                  "total": 0,
                  "unique": 0,
                  "machine": 0
                },
                "emailSoftBounce": {
                  "total": 0,
                  "unique": 0,
                  "machine": 0
                },
                "emailHardBounce": {
                  "total": 0,
                  "unique": 0,
                  "machine": 0
                },
                "emailComplaint": {
                  "total": 0,
                  "unique": 0,
                  "machine": 0
                },
                "contactUnsubscribe": {
                  "total": 0,
                  "unique": 0,
                  "machine": 0
                }
              },
              {
                "date": "2026-03-02",
                "emailSent": {
                  "total": 3,
                  "unique": 3,
                  "machine": 0
                },
                "emailOpen": {
                  "total": 1,
                  "unique": 1,
                  "machine": 0
                },
                "emailClick": {
                  "total": 1,
                  "unique": 1,
                  "machine": 0
                },
                "emailSoftBounce": {
                  "total": 0,
                  "unique": 0,
                  "machine": 0
                },
                "emailHardBounce": {
                  "total": 0,
                  "unique": 0,
                  "machine": 0
                },
                "emailComplaint": {
                  "total": 0,
                  "unique": 0,
                  "machine": 0
                },
                "contactUnsubscribe": {
                  "total": 0,
                  "unique": 0,
                  "machine": 0
                }
              }
            ],
            "links": [
              {
                "link": "https://shop.example.com/orders/1042",
                "clicks": 1,
                "clicks_unique": 1,
                "clicks_machine": 0
              }
            ],
            "domains": [
              {
                "domain": "example.com",
                "sent": 3,
                "opens_unique": 1,
                "clicks_unique": 1,
                "hard_bounces": 0,
                "soft_bounces": 0,
                "complaints": 0
              }
            ],
            "bounces": [],
            "versions": [
              {
                "version": 3,
                "sent": 2,
                "opens_unique": 1,
                "clicks_unique": 1,
                "hard_bounces": 0,
                "soft_bounces": 0,
                "complaints": 0,
                "unsubscribes": 0
              },
              {
                "version": 2,
                "sent": 1,
                "opens_unique": 0,
                "clicks_unique": 0,
                "hard_bounces": 0,
                "soft_bounces": 0,
                "complaints": 0,
                "unsubscribes": 0
              }
            ]
          }
        }
      }
    }
  ],
  "listLinkClicks": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/flows/flw_01kjt5r2g0e0t8vz1q0m3w0001/link-clicks",
        "params": {
          "id": "flw_01kjt5r2g0e0t8vz1q0m3w0001"
        },
        "query": {
          "start_date": "2026-03-01",
          "end_date": "2026-03-02",
          "timezone": "UTC",
          "link": "https://shop.example.com/orders/1042",
          "machine": "false"
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
              "id": "evt_01kjt5r2g0e0t8vz1q0m3w0002",
              "occurred_at": "2026-03-02T10:15:00.480Z",
              "machine": false,
              "message_id": "msg_01kjt5r2g0e0t8vz1q0m3w0002",
              "contact": {
                "id": "con_01kjt5r2g0e0t8vz1q0m3w0001",
                "email": "ada@example.com",
                "first_name": "Ada"
              }
            }
          ],
          "next_cursor": null
        }
      }
    }
  ]
}
