// Recorded by test/reference.test.ts. To record it again, run: npx vitest run test/reference.test.ts -u
import type { Examples } from '../types.ts'

export const examples: Examples = {
  "listBroadcasts": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/broadcasts",
        "query": {
          "status": "sent"
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
              "id": "brc_01kjt5r2g0e0t8vz1q0m3w0002",
              "name": "November news",
              "status": "sent",
              "flow_id": "flw_01kjt5r2g0e0t8vz1q0m3w0005",
              "flow_version": 1,
              "audience": {
                "group_ids": [
                  "grp_01kjt5r2g0e0t8vz1q0m3w0004"
                ],
                "segment_ids": [],
                "exclude_group_ids": [],
                "exclude_segment_ids": []
              },
              "context": {
                "headline": "Three new birds"
              },
              "service_announcement": false,
              "schedule": {
                "at": null,
                "time_zone": "Europe/Vienna",
                "per_recipient": false,
                "time_zone_attribute": "time_zone",
                "window": null
              },
              "messages_per_hour": null,
              "missed_after_seconds": 3600,
              "variants": [],
              "test_percent": 20,
              "winner_by": "opens",
              "decide_after_seconds": 14400,
              "decides_at": null,
              "winner": null,
              "starts_at": "2026-03-02T10:15:00.000Z",
              "started_at": "2026-03-02T10:15:00.120Z",
              "finished_at": "2026-03-02T09:30:02.417Z",
              "reason": null,
              "detail": null,
              "recipients": 3,
              "excluded": 0,
              "counts": {
                "recipients": 3,
                "pending": 0,
                "queued": 0,
                "sent": 3,
                "bounced": 0,
                "suppressed": 0,
                "unsubscribed": 0,
                "failed": 0,
                "cancelled": 0
              },
              "created_at": "2026-03-02T09:30:00.000Z",
              "updated_at": "2026-03-02T09:41:12.000Z"
            }
          ],
          "next_cursor": null
        }
      }
    }
  ],
  "createBroadcast": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/broadcasts",
        "body": {
          "name": "November news",
          "flow_id": "flw_01kjt5r2g0e0t8vz1q0m3w0005",
          "audience": {
            "group_ids": [
              "grp_01kjt5r2g0e0t8vz1q0m3w0004"
            ]
          },
          "context": {
            "headline": "Two new birds"
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
            "id": "brc_01kjt5r2g0e0t8vz1q0m3w0002",
            "name": "November news",
            "status": "draft",
            "flow_id": "flw_01kjt5r2g0e0t8vz1q0m3w0005",
            "flow_version": null,
            "audience": {
              "group_ids": [
                "grp_01kjt5r2g0e0t8vz1q0m3w0004"
              ],
              "segment_ids": [],
              "exclude_group_ids": [],
              "exclude_segment_ids": []
            },
            "context": {
              "headline": "Two new birds"
            },
            "service_announcement": false,
            "schedule": {
              "at": null,
              "time_zone": "Europe/Vienna",
              "per_recipient": false,
              "time_zone_attribute": "time_zone",
              "window": null
            },
            "messages_per_hour": null,
            "missed_after_seconds": 3600,
            "variants": [],
            "test_percent": 20,
            "winner_by": "opens",
            "decide_after_seconds": 14400,
            "decides_at": null,
            "winner": null,
            "starts_at": null,
            "started_at": null,
            "finished_at": null,
            "reason": null,
            "detail": null,
            "recipients": null,
            "excluded": null,
            "counts": {
              "recipients": 0,
              "pending": 0,
              "queued": 0,
              "sent": 0,
              "bounced": 0,
              "suppressed": 0,
              "unsubscribed": 0,
              "failed": 0,
              "cancelled": 0
            },
            "created_at": "2026-03-02T09:30:00.000Z",
            "updated_at": "2026-03-02T09:41:12.000Z"
          }
        }
      }
    },
    {
      "title": "validation_failed",
      "request": {
        "path": "/api/v1/organization/broadcasts",
        "body": {
          "name": "News",
          "schedule": {
            "time_zone": "Mars/Base"
          }
        }
      },
      "response": {
        "status": 422,
        "body": {
          "code": 422,
          "status": "error",
          "message": "schedule.time_zone: must be an IANA time zone",
          "data": null,
          "error": {
            "type": "validation_failed",
            "fields": [
              {
                "path": "schedule.time_zone",
                "problem": "must be an IANA time zone"
              }
            ],
            "request_id": "req_5d0c8f1e9a4b7c26000001"
          }
        }
      }
    }
  ],
  "getBroadcast": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/broadcasts/brc_01kjt5r2g0e0t8vz1q0m3w0002",
        "params": {
          "id": "brc_01kjt5r2g0e0t8vz1q0m3w0002"
        }
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "OK",
          "data": {
            "id": "brc_01kjt5r2g0e0t8vz1q0m3w0002",
            "name": "November news",
            "status": "sent",
            "flow_id": "flw_01kjt5r2g0e0t8vz1q0m3w0005",
            "flow_version": 1,
            "audience": {
              "group_ids": [
                "grp_01kjt5r2g0e0t8vz1q0m3w0004"
              ],
              "segment_ids": [],
              "exclude_group_ids": [],
              "exclude_segment_ids": []
            },
            "context": {
              "headline": "Three new birds"
            },
            "service_announcement": false,
            "schedule": {
              "at": null,
              "time_zone": "Europe/Vienna",
              "per_recipient": false,
              "time_zone_attribute": "time_zone",
              "window": null
            },
            "messages_per_hour": null,
            "missed_after_seconds": 3600,
            "variants": [],
            "test_percent": 20,
            "winner_by": "opens",
            "decide_after_seconds": 14400,
            "decides_at": null,
            "winner": null,
            "starts_at": "2026-03-02T10:15:00.000Z",
            "started_at": "2026-03-02T10:15:00.120Z",
            "finished_at": "2026-03-02T09:30:02.417Z",
            "reason": null,
            "detail": null,
            "recipients": 3,
            "excluded": 0,
            "counts": {
              "recipients": 3,
              "pending": 0,
              "queued": 0,
              "sent": 3,
              "bounced": 0,
              "suppressed": 0,
              "unsubscribed": 0,
              "failed": 0,
              "cancelled": 0
            },
            "created_at": "2026-03-02T09:30:00.000Z",
            "updated_at": "2026-03-02T09:41:12.000Z",
            "results": {
              "opened": 0,
              "clicked": 0,
              "unsubscribed": 0,
              "complained": 0,
              "hard_bounced": 0,
              "soft_bounced": 0
            }
          }
        }
      }
    }
  ],
  "updateBroadcast": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/broadcasts/brc_01kjt5r2g0e0t8vz1q0m3w0002",
        "params": {
          "id": "brc_01kjt5r2g0e0t8vz1q0m3w0002"
        },
        "body": {
          "context": {
            "headline": "Three new birds"
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
            "id": "brc_01kjt5r2g0e0t8vz1q0m3w0002",
            "name": "November news",
            "status": "draft",
            "flow_id": "flw_01kjt5r2g0e0t8vz1q0m3w0005",
            "flow_version": null,
            "audience": {
              "group_ids": [
                "grp_01kjt5r2g0e0t8vz1q0m3w0004"
              ],
              "segment_ids": [],
              "exclude_group_ids": [],
              "exclude_segment_ids": []
            },
            "context": {
              "headline": "Three new birds"
            },
            "service_announcement": false,
            "schedule": {
              "at": null,
              "time_zone": "Europe/Vienna",
              "per_recipient": false,
              "time_zone_attribute": "time_zone",
              "window": null
            },
            "messages_per_hour": null,
            "missed_after_seconds": 3600,
            "variants": [],
            "test_percent": 20,
            "winner_by": "opens",
            "decide_after_seconds": 14400,
            "decides_at": null,
            "winner": null,
            "starts_at": null,
            "started_at": null,
            "finished_at": null,
            "reason": null,
            "detail": null,
            "recipients": null,
            "excluded": null,
            "counts": {
              "recipients": 0,
              "pending": 0,
              "queued": 0,
              "sent": 0,
              "bounced": 0,
              "suppressed": 0,
              "unsubscribed": 0,
              "failed": 0,
              "cancelled": 0
            },
            "created_at": "2026-03-02T09:30:00.000Z",
            "updated_at": "2026-03-02T09:41:12.000Z"
          }
        }
      }
    }
  ],
  "deleteBroadcast": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/broadcasts/brc_01kjt5r2g0e0t8vz1q0m3w0003",
        "params": {
          "id": "brc_01kjt5r2g0e0t8vz1q0m3w0003"
        }
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "Broadcast deleted",
          "data": null
        }
      }
    }
  ],
  "duplicateBroadcast": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/broadcasts/brc_01kjt5r2g0e0t8vz1q0m3w0002/duplicate",
        "params": {
          "id": "brc_01kjt5r2g0e0t8vz1q0m3w0002"
        }
      },
      "response": {
        "status": 201,
        "body": {
          "code": 201,
          "status": "success",
          "message": "Created",
          "data": {
            "id": "brc_01kjt5r2g0e0t8vz1q0m3w0004",
            "name": "Copy of November news",
            "status": "draft",
            "flow_id": "flw_01kjt5r2g0e0t8vz1q0m3w0005",
            "flow_version": null,
            "audience": {
              "group_ids": [
                "grp_01kjt5r2g0e0t8vz1q0m3w0004"
              ],
              "segment_ids": [],
              "exclude_group_ids": [],
              "exclude_segment_ids": []
            },
            "context": {
              "headline": "Three new birds"
            },
            "service_announcement": false,
            "schedule": {
              "at": null,
              "time_zone": "Europe/Vienna",
              "per_recipient": false,
              "time_zone_attribute": "time_zone",
              "window": null
            },
            "messages_per_hour": null,
            "missed_after_seconds": 3600,
            "variants": [],
            "test_percent": 20,
            "winner_by": "opens",
            "decide_after_seconds": 14400,
            "decides_at": null,
            "winner": null,
            "starts_at": null,
            "started_at": null,
            "finished_at": null,
            "reason": null,
            "detail": null,
            "recipients": null,
            "excluded": null,
            "counts": {
              "recipients": 0,
              "pending": 0,
              "queued": 0,
              "sent": 0,
              "bounced": 0,
              "suppressed": 0,
              "unsubscribed": 0,
              "failed": 0,
              "cancelled": 0
            },
            "created_at": "2026-03-02T09:30:00.000Z",
            "updated_at": "2026-03-02T09:41:12.000Z"
          }
        }
      }
    }
  ],
  "listBroadcastRecipients": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/broadcasts/brc_01kjt5r2g0e0t8vz1q0m3w0002/recipients",
        "params": {
          "id": "brc_01kjt5r2g0e0t8vz1q0m3w0002"
        },
        "query": {
          "status": "sent",
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
              "contact_id": "con_01kjt5r2g0e0t8vz1q0m3w0006",
              "email": "ida@example.com",
              "status": "sent",
              "reason": null,
              "message_id": "msg_01kjt5r2g0e0t8vz1q0m3w0010",
              "variant": null
            }
          ],
          "next_cursor": "WyIwMTljYWQ2Yi0zZTAwLTdhMWItOGMyZC0zZTRmNWE2YjdjOGQiXQ"
        }
      }
    }
  ],
  "exportBroadcastRecipients": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/broadcasts/brc_01kjt5r2g0e0t8vz1q0m3w0002/recipients/export",
        "params": {
          "id": "brc_01kjt5r2g0e0t8vz1q0m3w0002"
        }
      },
      "response": {
        "status": 200,
        "body": "contact_id,email,status,reason,message_id,variant\r\ncon_01kjt5r2g0e0t8vz1q0m3w0006,ida@example.com,sent,,msg_01kjt5r2g0e0t8vz1q0m3w0010,\r\ncon_01kjt5r2g0e0t8vz1q0m3w0007,joan@example.com,sent,,msg_01kjt5r2g0e0t8vz1q0m3w0011,\r\ncon_01kjt5r2g0e0t8vz1q0m3w0008,kurt@example.com,sent,,msg_01kjt5r2g0e0t8vz1q0m3w0012,\r\n"
      }
    }
  ],
  "listBroadcastLinks": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/broadcasts/brc_01kjt5r2g0e0t8vz1q0m3w0002/links",
        "params": {
          "id": "brc_01kjt5r2g0e0t8vz1q0m3w0002"
        }
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "OK",
          "data": []
        }
      }
    }
  ],
  "checkBroadcast": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/broadcasts/brc_01kjt5r2g0e0t8vz1q0m3w0002/check",
        "params": {
          "id": "brc_01kjt5r2g0e0t8vz1q0m3w0002"
        }
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "OK",
          "data": {
            "recipients": 3,
            "audience": 3,
            "suppressed": 0,
            "unsubscribed": 0,
            "not_subscribed": 0,
            "missing_variables": [],
            "checked": 3,
            "incomplete": 0,
            "incomplete_contacts": [],
            "unused_context_keys": []
          }
        }
      }
    }
  ],
  "testBroadcast": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/broadcasts/brc_01kjt5r2g0e0t8vz1q0m3w0002/test",
        "params": {
          "id": "brc_01kjt5r2g0e0t8vz1q0m3w0002"
        },
        "body": {
          "to": "editor@acme.example"
        }
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "OK",
          "data": {
            "message_id": "msg_01kjt5r2g0e0t8vz1q0m3w0013",
            "flow_id": "flw_01kjt5r2g0e0t8vz1q0m3w0005",
            "contact_id": null,
            "contact_email": "editor@acme.example",
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
  "chooseBroadcastVariant": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/broadcasts/brc_01kjt5r2g0e0t8vz1q0m3w0005/choose-variant",
        "params": {
          "id": "brc_01kjt5r2g0e0t8vz1q0m3w0005"
        },
        "body": {
          "variant": "B"
        }
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "OK",
          "data": {
            "id": "brc_01kjt5r2g0e0t8vz1q0m3w0005",
            "name": "December news",
            "status": "sending",
            "flow_id": "flw_01kjt5r2g0e0t8vz1q0m3w0005",
            "flow_version": 1,
            "audience": {
              "group_ids": [
                "grp_01kjt5r2g0e0t8vz1q0m3w0004"
              ],
              "segment_ids": [],
              "exclude_group_ids": [],
              "exclude_segment_ids": []
            },
            "context": {
              "headline": "Four new birds"
            },
            "service_announcement": false,
            "schedule": {
              "at": null,
              "time_zone": "Europe/Vienna",
              "per_recipient": false,
              "time_zone_attribute": "time_zone",
              "window": null
            },
            "messages_per_hour": null,
            "missed_after_seconds": 3600,
            "variants": [
              {
                "key": "A",
                "subject": "Four new birds",
                "flow_version": null,
                "share": 50
              },
              {
                "key": "B",
                "subject": "Look who is here, {{ first_name }}",
                "flow_version": null,
                "share": 50
              }
            ],
            "test_percent": 50,
            "winner_by": "manual",
            "decide_after_seconds": 14400,
            "decides_at": null,
            "winner": "B",
            "starts_at": "2026-03-02T10:15:00.000Z",
            "started_at": "2026-03-02T10:15:00.120Z",
            "finished_at": null,
            "reason": null,
            "detail": null,
            "recipients": 3,
            "excluded": 0,
            "counts": {
              "recipients": 3,
              "pending": 1,
              "queued": 0,
              "sent": 2,
              "bounced": 0,
              "suppressed": 0,
              "unsubscribed": 0,
              "failed": 0,
              "cancelled": 0
            },
            "created_at": "2026-03-02T09:30:00.000Z",
            "updated_at": "2026-03-02T09:41:12.000Z"
          }
        }
      }
    }
  ],
  "startBroadcast": [
    {
      "title": "conflict",
      "request": {
        "path": "/api/v1/organization/broadcasts/brc_01kjt5r2g0e0t8vz1q0m3w0002/start",
        "params": {
          "id": "brc_01kjt5r2g0e0t8vz1q0m3w0002"
        },
        "body": {
          "expected_recipients": 4
        }
      },
      "response": {
        "status": 409,
        "body": {
          "code": 409,
          "status": "error",
          "message": "The broadcast has 3 recipients now, not 4. Check it again and confirm the new number.",
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
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/broadcasts/brc_01kjt5r2g0e0t8vz1q0m3w0002/start",
        "params": {
          "id": "brc_01kjt5r2g0e0t8vz1q0m3w0002"
        },
        "body": {
          "expected_recipients": 3
        }
      },
      "response": {
        "status": 202,
        "body": {
          "code": 202,
          "status": "success",
          "message": "Accepted",
          "data": {
            "id": "brc_01kjt5r2g0e0t8vz1q0m3w0002",
            "name": "November news",
            "status": "preparing",
            "flow_id": "flw_01kjt5r2g0e0t8vz1q0m3w0005",
            "flow_version": 1,
            "audience": {
              "group_ids": [
                "grp_01kjt5r2g0e0t8vz1q0m3w0004"
              ],
              "segment_ids": [],
              "exclude_group_ids": [],
              "exclude_segment_ids": []
            },
            "context": {
              "headline": "Three new birds"
            },
            "service_announcement": false,
            "schedule": {
              "at": null,
              "time_zone": "Europe/Vienna",
              "per_recipient": false,
              "time_zone_attribute": "time_zone",
              "window": null
            },
            "messages_per_hour": null,
            "missed_after_seconds": 3600,
            "variants": [],
            "test_percent": 20,
            "winner_by": "opens",
            "decide_after_seconds": 14400,
            "decides_at": null,
            "winner": null,
            "starts_at": "2026-03-02T10:15:00.000Z",
            "started_at": null,
            "finished_at": null,
            "reason": null,
            "detail": null,
            "recipients": null,
            "excluded": null,
            "counts": {
              "recipients": 0,
              "pending": 0,
              "queued": 0,
              "sent": 0,
              "bounced": 0,
              "suppressed": 0,
              "unsubscribed": 0,
              "failed": 0,
              "cancelled": 0
            },
            "created_at": "2026-03-02T09:30:00.000Z",
            "updated_at": "2026-03-02T09:41:12.000Z"
          }
        }
      }
    }
  ],
  "scheduleBroadcast": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/broadcasts/brc_01kjt5r2g0e0t8vz1q0m3w0006/schedule",
        "params": {
          "id": "brc_01kjt5r2g0e0t8vz1q0m3w0006"
        },
        "body": {
          "expected_recipients": 3
        }
      },
      "response": {
        "status": 202,
        "body": {
          "code": 202,
          "status": "success",
          "message": "Accepted",
          "data": {
            "id": "brc_01kjt5r2g0e0t8vz1q0m3w0006",
            "name": "Copy of November news (2)",
            "status": "scheduled",
            "flow_id": "flw_01kjt5r2g0e0t8vz1q0m3w0005",
            "flow_version": null,
            "audience": {
              "group_ids": [
                "grp_01kjt5r2g0e0t8vz1q0m3w0004"
              ],
              "segment_ids": [],
              "exclude_group_ids": [],
              "exclude_segment_ids": []
            },
            "context": {
              "headline": "Three new birds"
            },
            "service_announcement": false,
            "schedule": {
              "at": "2026-03-04T09:00",
              "time_zone": "Europe/Vienna",
              "per_recipient": false,
              "time_zone_attribute": "time_zone",
              "window": null
            },
            "messages_per_hour": null,
            "missed_after_seconds": 3600,
            "variants": [],
            "test_percent": 20,
            "winner_by": "opens",
            "decide_after_seconds": 14400,
            "decides_at": null,
            "winner": null,
            "starts_at": "2026-03-02T10:15:00.000Z",
            "started_at": null,
            "finished_at": null,
            "reason": null,
            "detail": null,
            "recipients": null,
            "excluded": null,
            "counts": {
              "recipients": 0,
              "pending": 0,
              "queued": 0,
              "sent": 0,
              "bounced": 0,
              "suppressed": 0,
              "unsubscribed": 0,
              "failed": 0,
              "cancelled": 0
            },
            "created_at": "2026-03-02T09:30:00.000Z",
            "updated_at": "2026-03-02T09:41:12.000Z"
          }
        }
      }
    }
  ],
  "pauseBroadcast": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/broadcasts/brc_01kjt5r2g0e0t8vz1q0m3w0004/pause",
        "params": {
          "id": "brc_01kjt5r2g0e0t8vz1q0m3w0004"
        }
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "OK",
          "data": {
            "id": "brc_01kjt5r2g0e0t8vz1q0m3w0004",
            "name": "Copy of November news",
            "status": "paused",
            "flow_id": "flw_01kjt5r2g0e0t8vz1q0m3w0005",
            "flow_version": 1,
            "audience": {
              "group_ids": [
                "grp_01kjt5r2g0e0t8vz1q0m3w0004"
              ],
              "segment_ids": [],
              "exclude_group_ids": [],
              "exclude_segment_ids": []
            },
            "context": {
              "headline": "Three new birds"
            },
            "service_announcement": false,
            "schedule": {
              "at": null,
              "time_zone": "Europe/Vienna",
              "per_recipient": false,
              "time_zone_attribute": "time_zone",
              "window": null
            },
            "messages_per_hour": 1,
            "missed_after_seconds": 3600,
            "variants": [],
            "test_percent": 20,
            "winner_by": "opens",
            "decide_after_seconds": 14400,
            "decides_at": null,
            "winner": null,
            "starts_at": "2026-03-02T10:15:00.000Z",
            "started_at": "2026-03-02T10:15:00.120Z",
            "finished_at": null,
            "reason": "user",
            "detail": null,
            "recipients": 3,
            "excluded": 0,
            "counts": {
              "recipients": 3,
              "pending": 2,
              "queued": 0,
              "sent": 1,
              "bounced": 0,
              "suppressed": 0,
              "unsubscribed": 0,
              "failed": 0,
              "cancelled": 0
            },
            "created_at": "2026-03-02T09:30:00.000Z",
            "updated_at": "2026-03-02T09:41:12.000Z"
          }
        }
      }
    }
  ],
  "resumeBroadcast": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/broadcasts/brc_01kjt5r2g0e0t8vz1q0m3w0004/resume",
        "params": {
          "id": "brc_01kjt5r2g0e0t8vz1q0m3w0004"
        }
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "OK",
          "data": {
            "id": "brc_01kjt5r2g0e0t8vz1q0m3w0004",
            "name": "Copy of November news",
            "status": "sending",
            "flow_id": "flw_01kjt5r2g0e0t8vz1q0m3w0005",
            "flow_version": 1,
            "audience": {
              "group_ids": [
                "grp_01kjt5r2g0e0t8vz1q0m3w0004"
              ],
              "segment_ids": [],
              "exclude_group_ids": [],
              "exclude_segment_ids": []
            },
            "context": {
              "headline": "Three new birds"
            },
            "service_announcement": false,
            "schedule": {
              "at": null,
              "time_zone": "Europe/Vienna",
              "per_recipient": false,
              "time_zone_attribute": "time_zone",
              "window": null
            },
            "messages_per_hour": 1,
            "missed_after_seconds": 3600,
            "variants": [],
            "test_percent": 20,
            "winner_by": "opens",
            "decide_after_seconds": 14400,
            "decides_at": null,
            "winner": null,
            "starts_at": "2026-03-02T10:15:00.000Z",
            "started_at": "2026-03-02T10:15:00.120Z",
            "finished_at": null,
            "reason": null,
            "detail": null,
            "recipients": 3,
            "excluded": 0,
            "counts": {
              "recipients": 3,
              "pending": 2,
              "queued": 0,
              "sent": 1,
              "bounced": 0,
              "suppressed": 0,
              "unsubscribed": 0,
              "failed": 0,
              "cancelled": 0
            },
            "created_at": "2026-03-02T09:30:00.000Z",
            "updated_at": "2026-03-02T09:41:12.000Z"
          }
        }
      }
    }
  ],
  "cancelBroadcast": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/broadcasts/brc_01kjt5r2g0e0t8vz1q0m3w0006/cancel",
        "params": {
          "id": "brc_01kjt5r2g0e0t8vz1q0m3w0006"
        }
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "OK",
          "data": {
            "id": "brc_01kjt5r2g0e0t8vz1q0m3w0006",
            "name": "Copy of November news (2)",
            "status": "cancelled",
            "flow_id": "flw_01kjt5r2g0e0t8vz1q0m3w0005",
            "flow_version": null,
            "audience": {
              "group_ids": [
                "grp_01kjt5r2g0e0t8vz1q0m3w0004"
              ],
              "segment_ids": [],
              "exclude_group_ids": [],
              "exclude_segment_ids": []
            },
            "context": {
              "headline": "Three new birds"
            },
            "service_announcement": false,
            "schedule": {
              "at": "2026-03-04T09:00",
              "time_zone": "Europe/Vienna",
              "per_recipient": false,
              "time_zone_attribute": "time_zone",
              "window": null
            },
            "messages_per_hour": null,
            "missed_after_seconds": 3600,
            "variants": [],
            "test_percent": 20,
            "winner_by": "opens",
            "decide_after_seconds": 14400,
            "decides_at": null,
            "winner": null,
            "starts_at": "2026-03-02T10:15:00.000Z",
            "started_at": null,
            "finished_at": "2026-03-02T09:30:02.417Z",
            "reason": null,
            "detail": null,
            "recipients": null,
            "excluded": null,
            "counts": {
              "recipients": 0,
              "pending": 0,
              "queued": 0,
              "sent": 0,
              "bounced": 0,
              "suppressed": 0,
              "unsubscribed": 0,
              "failed": 0,
              "cancelled": 0
            },
            "created_at": "2026-03-02T09:30:00.000Z",
            "updated_at": "2026-03-02T09:41:12.000Z"
          }
        }
      }
    }
  ],
  "retryBroadcastFailed": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/broadcasts/brc_01kjt5r2g0e0t8vz1q0m3w0007/retry-failed",
        "params": {
          "id": "brc_01kjt5r2g0e0t8vz1q0m3w0007"
        }
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "OK",
          "data": {
            "id": "brc_01kjt5r2g0e0t8vz1q0m3w0007",
            "name": "News by city",
            "status": "preparing",
            "flow_id": "flw_01kjt5r2g0e0t8vz1q0m3w0006",
            "flow_version": 1,
            "audience": {
              "group_ids": [
                "grp_01kjt5r2g0e0t8vz1q0m3w0004"
              ],
              "segment_ids": [],
              "exclude_group_ids": [],
              "exclude_segment_ids": []
            },
            "context": {},
            "service_announcement": false,
            "schedule": {
              "at": null,
              "time_zone": "Europe/Vienna",
              "per_recipient": false,
              "time_zone_attribute": "time_zone",
              "window": null
            },
            "messages_per_hour": null,
            "missed_after_seconds": 3600,
            "variants": [],
            "test_percent": 20,
            "winner_by": "opens",
            "decide_after_seconds": 14400,
            "decides_at": null,
            "winner": null,
            "starts_at": "2026-03-02T10:15:00.000Z",
            "started_at": "2026-03-02T10:15:00.120Z",
            "finished_at": "2026-03-02T09:30:02.417Z",
            "reason": null,
            "detail": null,
            "recipients": 3,
            "excluded": 0,
            "counts": {
              "recipients": 3,
              "pending": 0,
              "queued": 0,
              "sent": 0,
              "bounced": 0,
              "suppressed": 0,
              "unsubscribed": 0,
              "failed": 3,
              "cancelled": 0
            },
            "created_at": "2026-03-02T09:30:00.000Z",
            "updated_at": "2026-03-02T09:41:12.000Z"
          }
        }
      }
    }
  ]
}
