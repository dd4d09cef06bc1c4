// Recorded by test/reference.test.ts. To record it again, run: npx vitest run test/reference.test.ts -u
import type { Examples } from '../types.ts'

export const examples: Examples = {
  "listContacts": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/contacts",
        "query": {
          "query": "ada@",
          "limit": "10"
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
              "id": "con_01kjt5r2g0e0t8vz1q0m3w0001",
              "email": "ada@example.com",
              "first_name": "Ada",
              "last_name": null,
              "attributes": {
                "plan": "pro"
              },
              "status": "subscribed",
              "created_at": "2026-03-02T09:30:00.000Z",
              "groups": [
                {
                  "id": "grp_01kjt5r2g0e0t8vz1q0m3w0001",
                  "name": "Monthly newsletter"
                }
              ]
            }
          ],
          "next_cursor": null
        }
      }
    }
  ],
  "createContact": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/contacts",
        "body": {
          "email": "linus@example.com",
          "first_name": "Linus",
          "attributes": {
            "plan": "free",
            "seats": 3
          }
        }
      },
      "response": {
        "status": 201,
        "body": {
          "code": 201,
          "status": "success",
          "message": "Created",
          "data": {
            "id": "con_01kjt5r2g0e0t8vz1q0m3w0004",
            "email": "linus@example.com",
            "first_name": "Linus",
            "last_name": null,
            "attributes": {
              "plan": "free",
              "seats": 3
            },
            "status": "subscribed",
            "created_at": "2026-03-02T09:30:00.000Z",
            "groups": []
          }
        }
      }
    },
    {
      "title": "conflict",
      "request": {
        "path": "/api/v1/organization/contacts",
        "body": {
          "email": "linus@example.com"
        }
      },
      "response": {
        "status": 409,
        "body": {
          "code": 409,
          "status": "error",
          "message": "A contact with this email address already exists.",
          "data": null,
          "error": {
            "type": "conflict",
            "fields": [],
            "request_id": "req_5d0c8f1e9a4b7c26000001"
          }
        }
      }
    },
    {
      "title": "validation_failed",
      "request": {
        "path": "/api/v1/organization/contacts",
        "body": {
          "email": "linus"
        }
      },
      "response": {
        "status": 422,
        "body": {
          "code": 422,
          "status": "error",
          "message": "email: is not a valid email address",
          "data": null,
          "error": {
            "type": "validation_failed",
            "fields": [
              {
                "path": "email",
                "problem": "is not a valid email address"
              }
            ],
            "request_id": "req_5d0c8f1e9a4b7c26000001"
          }
        }
      }
    }
  ],
  "countContacts": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/contacts/count",
        "query": {
          "segment_id": "seg_01kjt5r2g0e0t8vz1q0m3w0001"
        }
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "OK",
          "data": {
            "count": 1,
            "approximate": false
          }
        }
      }
    }
  ],
  "exportContacts": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/contacts/export",
        "query": {
          "status": "subscribed"
        }
      },
      "response": {
        "status": 200,
        "body": "id,email,first_name,last_name,status,groups,created_at,plan\r\ncon_01kjt5r2g0e0t8vz1q0m3w0001,ada@example.com,Ada,,subscribed,Monthly newsletter,2026-03-02T09:30:00.000Z,pro\r\ncon_01kjt5r2g0e0t8vz1q0m3w0005,grace@example.com,Grace,,subscribed,Monthly newsletter,2026-03-02T09:30:00.000Z,\r\n"
      }
    }
  ],
  "getContact": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/contacts/con_01kjt5r2g0e0t8vz1q0m3w0004",
        "params": {
          "id": "con_01kjt5r2g0e0t8vz1q0m3w0004"
        }
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "OK",
          "data": {
            "id": "con_01kjt5r2g0e0t8vz1q0m3w0004",
            "email": "linus@example.com",
            "first_name": "Linus",
            "last_name": null,
            "attributes": {
              "plan": "free",
              "seats": 3
            },
            "status": "subscribed",
            "created_at": "2026-03-02T09:30:00.000Z",
            "groups": [
              {
                "id": "grp_01kjt5r2g0e0t8vz1q0m3w0001",
                "name": "Monthly newsletter"
              }
            ]
          }
        }
      }
    }
  ],
  "updateContact": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/contacts/con_01kjt5r2g0e0t8vz1q0m3w0004",
        "params": {
          "id": "con_01kjt5r2g0e0t8vz1q0m3w0004"
        },
        "body": {
          "last_name": "Berg",
          "attributes": {
            "plan": "pro",
            "seats": 5
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
            "id": "con_01kjt5r2g0e0t8vz1q0m3w0004",
            "email": "linus@example.com",
            "first_name": "Linus",
            "last_name": "Berg",
            "attributes": {
              "plan": "pro",
              "seats": 5
            },
            "status": "subscribed",
            "created_at": "2026-03-02T09:30:00.000Z",
            "groups": [
              {
                "id": "grp_01kjt5r2g0e0t8vz1q0m3w0001",
                "name": "Monthly newsletter"
              }
            ]
          }
        }
      }
    }
  ],
  "deleteContact": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/contacts/con_01kjt5r2g0e0t8vz1q0m3w0004",
        "params": {
          "id": "con_01kjt5r2g0e0t8vz1q0m3w0004"
        }
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "Contact erased",
          "data": null
        }
      }
    }
  ],
  "listBulkActions": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/bulk-actions"
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "OK",
          "data": [
            {
              "id": "blk_01kjt5r2g0e0t8vz1q0m3w0001",
              "action": "unsubscribe",
              "group_id": null,
              "status": "done",
              "reason": null,
              "total": 0,
              "processed": 0,
              "changed": 0,
              "created_at": "2026-03-02T09:30:00.000Z",
              "finished_at": "2026-03-02T09:30:02.417Z"
            }
          ]
        }
      }
    }
  ],
  "createBulkAction": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/bulk-actions",
        "body": {
          "action": "unsubscribe",
          "matching": {
            "filter": {
              "type": "text",
              "field": "email_domain",
              "operator": "equals",
              "value": "example.net"
            }
          }
        }
      },
      "response": {
        "status": 202,
        "body": {
          "code": 202,
          "status": "success",
          "message": "Accepted",
          "data": {
            "id": "blk_01kjt5r2g0e0t8vz1q0m3w0001",
            "action": "unsubscribe",
            "group_id": null,
            "status": "queued",
            "reason": null,
            "total": null,
            "processed": 0,
            "changed": 0,
            "created_at": "2026-03-02T09:30:00.000Z",
            "finished_at": null
          }
        }
      }
    }
  ],
  "getBulkAction": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/bulk-actions/blk_01kjt5r2g0e0t8vz1q0m3w0001",
        "params": {
          "id": "blk_01kjt5r2g0e0t8vz1q0m3w0001"
        }
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "OK",
          "data": {
            "id": "blk_01kjt5r2g0e0t8vz1q0m3w0001",
            "action": "unsubscribe",
            "group_id": null,
            "status": "done",
            "reason": null,
            "total": 0,
            "processed": 0,
            "changed": 0,
            "created_at": "2026-03-02T09:30:00.000Z",
            "finished_at": "2026-03-02T09:30:02.417Z"
          }
        }
      }
    }
  ],
  "cancelBulkAction": [
    {
      "title": "conflict",
      "request": {
        "path": "/api/v1/organization/bulk-actions/blk_01kjt5r2g0e0t8vz1q0m3w0001/cancel",
        "params": {
          "id": "blk_01kjt5r2g0e0t8vz1q0m3w0001"
        }
      },
      "response": {
        "status": 409,
        "body": {
          "code": 409,
          "status": "error",
          "message": "This action has already finished.",
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
  "getContactTimeline": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/contacts/con_01kjt5r2g0e0t8vz1q0m3w0004/timeline",
        "params": {
          "id": "con_01kjt5r2g0e0t8vz1q0m3w0004"
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
              "at": "2026-03-02T10:15:00.731Z",
              "kind": "change",
              "event_name": null,
              "event_id": null,
              "message_id": null,
              "flow_id": null,
              "flow_name": null,
              "subject": null,
              "status": null,
              "machine": false,
              "detail": null,
              "evidence": null,
              "change": "edited",
              "subscribed": null,
              "fields": [
                "last_name",
                "attributes"
              ],
              "reasons": null,
              "group": null,
              "actor": {
                "type": "user",
                "id": "usr_01kjt5r2g0e0t8vz1q0m3w0002",
                "name": "owner@acme.example",
                "ip": null
              }
            },
            {
              "at": "2026-03-02T10:15:00.731Z",
              "kind": "change",
              "event_name": null,
              "event_id": null,
              "message_id": null,
              "flow_id": null,
              "flow_name": null,
              "subject": null,
              "status": null,
              "machine": false,
              "detail": null,
              "evidence": null,
              "change": "group_added",
              "subscribed": null,
              "fields": null,
              "reasons": null,
              "group": {
                "id": "grp_01kjt5r2g0e0t8vz1q0m3w0001",
                "name": "Monthly newsletter"
              },
              "actor": {
                "type": "user",
                "id": "usr_01kjt5r2g0e0t8vz1q0m3w0002",
                "name": "owner@acme.example",
                "ip": null
              }
            },
            {
              "at": "2026-03-02T10:15:00.731Z",
              "kind": "change",
              "event_name": null,
              "event_id": null,
              "message_id": null,
              "flow_id": null,
              "flow_name": null,
              "subject": null,
              "status": null,
              "machine": false,
              "detail": null,
              "evidence": null,
              "change": "created",
              "subscribed": true,
              "fields": null,
              "reasons": null,
              "group": null,
              "actor": {
                "type": "user",
                "id": "usr_01kjt5r2g0e0t8vz1q0m3w0002",
                "name": "owner@acme.example",
                "ip": null
              }
            }
          ],
          "next_cursor": null
        }
      }
    }
  ],
  "listContactConsents": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/contacts/con_01kjt5r2g0e0t8vz1q0m3w0004/consents",
        "params": {
          "id": "con_01kjt5r2g0e0t8vz1q0m3w0004"
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
              "at": "2026-03-02T10:15:00.731Z",
              "action": "subscribed",
              "source": {
                "type": "user",
                "id": "usr_01kjt5r2g0e0t8vz1q0m3w0002",
                "name": "owner@acme.example"
              },
              "ip": null,
              "method": null,
              "event_id": null,
              "message_id": null
            }
          ]
        }
      }
    }
  ],
  "listImports": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/imports"
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "OK",
          "data": [
            {
              "id": "imp_01kjt5r2g0e0t8vz1q0m3w0001",
              "filename": "customers.csv",
              "group_id": null,
              "subscription": "subscribed",
              "status": "done",
              "bytes_total": 74,
              "bytes_done": 74,
              "rows_done": 2,
              "created": 1,
              "updated": 0,
              "rejected": 1,
              "problem": null,
              "note": null,
              "created_at": "2026-03-02T09:30:00.000Z",
              "finished_at": "2026-03-02T09:30:02.417Z",
              "undo_until": "2026-03-02T09:30:00.000Z",
              "undo": null
            }
          ]
        }
      }
    }
  ],
  "getImport": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/imports/imp_01kjt5r2g0e0t8vz1q0m3w0001",
        "params": {
          "id": "imp_01kjt5r2g0e0t8vz1q0m3w0001"
        }
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "OK",
          "data": {
            "id": "imp_01kjt5r2g0e0t8vz1q0m3w0001",
            "filename": "customers.csv",
            "group_id": null,
            "subscription": "subscribed",
            "status": "done",
            "bytes_total": 74,
            "bytes_done": 74,
            "rows_done": 2,
            "created": 1,
            "updated": 0,
            "rejected": 1,
            "problem": null,
            "note": null,
            "created_at": "2026-03-02T09:30:00.000Z",
            "finished_at": "2026-03-02T09:30:02.417Z",
            "undo_until": "2026-03-02T09:30:00.000Z",
            "undo": null,
            "columns": [
              "Email",
              "First name",
              "Plan"
            ],
            "errors": [
              {
                "line": 3,
                "email": "not an address",
                "problem": "email is not a valid email address",
                "cells": [
                  "not an address",
                  "Max",
                  "free"
                ]
              }
            ]
          }
        }
      }
    }
  ],
  "cancelImport": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/imports/imp_01kjt5r2g0e0t8vz1q0m3w0002/cancel",
        "params": {
          "id": "imp_01kjt5r2g0e0t8vz1q0m3w0002"
        }
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "OK",
          "data": {
            "id": "imp_01kjt5r2g0e0t8vz1q0m3w0002",
            "filename": "old-list.csv",
            "group_id": null,
            "subscription": "subscribed",
            "status": "cancelled",
            "bytes_total": 5088896,
            "bytes_done": 131072,
            "rows_done": 5120,
            "created": 5120,
            "updated": 0,
            "rejected": 0,
            "problem": null,
            "note": null,
            "created_at": "2026-03-02T09:30:00.000Z",
            "finished_at": "2026-03-02T09:30:02.417Z",
            "undo_until": "2026-03-02T09:30:00.000Z",
            "undo": null
          }
        }
      }
    }
  ],
  "undoImport": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/imports/imp_01kjt5r2g0e0t8vz1q0m3w0001/undo",
        "params": {
          "id": "imp_01kjt5r2g0e0t8vz1q0m3w0001"
        }
      },
      "response": {
        "status": 202,
        "body": {
          "code": 202,
          "status": "success",
          "message": "Undo queued",
          "data": {
            "id": "imp_01kjt5r2g0e0t8vz1q0m3w0001",
            "filename": "customers.csv",
            "group_id": null,
            "subscription": "subscribed",
            "status": "done",
            "bytes_total": 74,
            "bytes_done": 74,
            "rows_done": 2,
            "created": 1,
            "updated": 0,
            "rejected": 1,
            "problem": null,
            "note": null,
            "created_at": "2026-03-02T09:30:00.000Z",
            "finished_at": "2026-03-02T09:30:02.417Z",
            "undo_until": null,
            "undo": {
              "status": "queued",
              "removed": 0,
              "restored": 0,
              "kept": 0,
              "requested_at": "2026-03-02T09:30:00.000Z",
              "finished_at": null
            }
          }
        }
      }
    }
  ],
  "inspectImportFile": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/contacts/import/inspect",
        "headers": {
          "Content-Type": "text/csv"
        },
        "text": "Email,First name,Plan\nmarie@example.com,Marie,pro\nnot an address,Max,free\n"
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "OK",
          "data": {
            "delimiter": ",",
            "has_header": true,
            "columns": [
              {
                "position": 1,
                "name": "Email"
              },
              {
                "position": 2,
                "name": "First name"
              },
              {
                "position": 3,
                "name": "Plan"
              }
            ],
            "rows": [
              [
                "marie@example.com",
                "Marie",
                "pro"
              ],
              [
                "not an address",
                "Max",
                "free"
              ]
            ],
            "mapping": {
              "email": 1,
              "first_name": 2,
              "last_name": null,
              "status": null,
              "attributes": {
                "plan": 3
              }
            },
            "note": null,
            "problem": null
          }
        }
      }
    }
  ],
  "importContacts": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/contacts/import",
        "query": {
          "filename": "customers.csv"
        },
        "headers": {
          "Content-Type": "text/csv"
        },
        "text": "Email,First name,Plan\nmarie@example.com,Marie,pro\nnot an address,Max,free\n"
      },
      "response": {
        "status": 202,
        "body": {
          "code": 202,
          "status": "success",
          "message": "Import queued",
          "data": {
            "id": "imp_01kjt5r2g0e0t8vz1q0m3w0001",
            "filename": "customers.csv",
            "group_id": null,
            "subscription": "subscribed",
            "status": "queued",
            "bytes_total": 74,
            "bytes_done": 0,
            "rows_done": 0,
            "created": 0,
            "updated": 0,
            "rejected": 0,
            "problem": null,
            "note": null,
            "created_at": "2026-03-02T09:30:00.000Z",
            "finished_at": null,
            "undo_until": null,
            "undo": null
          }
        }
      }
    }
  ],
  "exportContact": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/contacts/con_01kjt5r2g0e0t8vz1q0m3w0004/export",
        "params": {
          "id": "con_01kjt5r2g0e0t8vz1q0m3w0004"
        }
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "OK",
          "data": {
            "exported_at": "2026-03-02T09:30:00.000Z",
            "contact": {
              "id": "con_01kjt5r2g0e0t8vz1q0m3w0004",
              "email": "linus@example.com",
              "first_name": "Linus",
              "last_name": "Berg",
              "attributes": {
                "plan": "pro",
                "seats": 5
              },
              "subscription": "subscribed",
              "created_at": "2026-03-02T09:30:00.000Z",
              "updated_at": "2026-03-02T09:41:12.000Z",
              "created_by": {
                "type": "user",
                "id": "usr_01kjt5r2g0e0t8vz1q0m3w0002"
              }
            },
            "truncated": [],
            "groups": [],
            "history": [
              {
                "at": "2026-03-02T10:15:00.731Z",
                "change": "group_removed",
                "actor": {
                  "type": "user",
                  "id": "usr_01kjt5r2g0e0t8vz1q0m3w0002"
                },
                "ip": null,
                "details": {
                  "group_id": "grp_01kjt5r2g0e0t8vz1q0m3w0001"
                }
              },
              {
                "at": "2026-03-02T10:15:00.731Z",
                "change": "edited",
                "actor": {
                  "type": "user",
                  "id": "usr_01kjt5r2g0e0t8vz1q0m3w0002"
                },
                "ip": null,
                "details": {
                  "fields": [
                    "last_name",
                    "attributes"
                  ]
                }
              },
              {
                "at": "2026-03-02T10:15:00.731Z",
                "change": "group_added",
                "actor": {
                  "type": "user",
                  "id": "usr_01kjt5r2g0e0t8vz1q0m3w0002"
                },
                "ip": null,
                "details": {
                  "group_id": "grp_01kjt5r2g0e0t8vz1q0m3w0001"
                }
              }
            ],
            "consents": [
              {
                "at": "2026-03-02T10:15:00.731Z",
                "action": "subscribed",
                "source": {
                  "type": "user",
                  "id": "usr_01kjt5r2g0e0t8vz1q0m3w0002",
                  "name": "owner@acme.example"
                },
                "ip": null,
                "method": null,
                "event_id": null,
                "message_id": null
              }
            ],
            "messages": [],
            "events": [],
            "webhook_deliveries": [],
            "suppressions": [],
            "inbox": [],
            "rejected_import_rows": []
          }
        }
      }
    }
  ]
}
