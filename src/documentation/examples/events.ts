// Recorded by test/reference.test.ts. To record it again, run: npx vitest run test/reference.test.ts -u
import type { Examples } from '../types.ts'

export const examples: Examples = {
  "listEventTypes": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/event-types"
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "OK",
          "data": [
            {
              "event_name": "emailSent",
              "description": "The mail server accepted an email.",
              "in_all_events": true,
              "example": {
                "event_name": "emailSent",
                "organization_id": "org_01kjt5r2g0e0t8vz1q0m3w0003",
                "timestamp": 1772446500,
                "data": {
                  "event_id": "evt_01kjt5r2g0e0t8vz1q0m3w0001",
                  "message_id": "msg_01kjt5r2g0e0t8vz1q0m3w0004",
                  "flow_id": "flw_01kjt5r2g0e0t8vz1q0m3w0002",
                  "contact": {
                    "id": "con_01kjt5r2g0e0t8vz1q0m3w0003",
                    "email": "ada@example.com",
                    "first_name": "Ada"
                  }
                }
              }
            },
            {
              "event_name": "emailOpen",
              "description": "An email was opened. The field \"machine\" is true for automated opens, by privacy proxies and scanners.",
              "in_all_events": true,
              "example": {
                "event_name": "emailOpen",
                "organization_id": "org_01kjt5r2g0e0t8vz1q0m3w0003",
                "timestamp": 1772446500,
                "data": {
                  "event_id": "evt_01kjt5r2g0e0t8vz1q0m3w0001",
                  "message_id": "msg_01kjt5r2g0e0t8vz1q0m3w0004",
                  "flow_id": "flw_01kjt5r2g0e0t8vz1q0m3w0002",
                  "contact": {
                    "id": "con_01kjt5r2g0e0t8vz1q0m3w0003",
                    "email": "ada@example.com",
                    "first_name": "Ada"
                  },
                  "machine": false,
                  "user_agent": "Mozilla/5.0 (Macintosh; Intel Mac OS X 14_5)"
                }
              }
            },
            {
              "event_name": "emailClick",
              "description": "A link in an email was clicked.",
              "in_all_events": true,
              "example": {
                "event_name": "emailClick",
                "organization_id": "org_01kjt5r2g0e0t8vz1q0m3w0003",
                "timestamp": 1772446500,
                "data": {
                  "event_id": "evt_01kjt5r2g0e0t8vz1q0m3w0001",
                  "message_id": "msg_01kjt5r2g0e0t8vz1q0m3w0004",
                  "flow_id": "flw_01kjt5r2g0e0t8vz1q0m3w0002",
                  "contact": {
                    "id": "con_01kjt5r2g0e0t8vz1q0m3w0003",
                    "email": "ada@example.com",
                    "first_name": "Ada"
                  },
                  "machine": false,
                  "user_agent": "Mozilla/5.0 (Macintosh; Intel Mac OS X 14_5)",
                  "url": "https://example.com/orders/1042"
                }
              }
            },
            {
              "event_name": "emailSoftBounce",
              "description": "An email could not be delivered for a temporary reason, for example because the mailbox is full.",
              "in_all_events": true,
              "example": {
                "event_name": "emailSoftBounce",
                "organization_id": "org_01kjt5r2g0e0t8vz1q0m3w0003",
                "timestamp": 1772446500,
                "data": {
                  "bounce": {
                    "type": "soft",
                    "status": "4.2.2",
                    "reply_code": 452,
                    "reason": "mailbox_full",
                    "diagnostic": "452 4.2.2 The mailbox is over quota",
                    "confidence": "high",
                    "evidence": "452 4.2.2 The mailbox is over quota"
                  },
                  "event_id": "evt_01kjt5r2g0e0t8vz1q0m3w0001",
                  "message_id": "msg_01kjt5r2g0e0t8vz1q0m3w0004",
                  "flow_id": "flw_01kjt5r2g0e0t8vz1q0m3w0002",
                  "contact": {
                    "id": "con_01kjt5r2g0e0t8vz1q0m3w0003",
                    "email": "ada@example.com",
                    "first_name": "Ada"
                  }
                }
              }
            },
            {
              "event_name": "emailHardBounce",
              "description": "An email could not be delivered because the address does not exist. The address is suppressed.",
              "in_all_events": true,
              "example": {
                "event_name": "emailHardBounce",
                "organization_id": "org_01kjt5r2g0e0t8vz1q0m3w0003",
                "timestamp": 1772446500,
                "data": {
                  "bounce": {
                    "type": "hard",
                    "status": "5.1.1",
                    "reply_code": 550,
                    "reason": "user_unknown",
                    "diagnostic": "550 5.1.1 No such user here",
                    "confidence": "high",
                    "evidence": "550 5.1.1 No such user here"
                  },
                  "event_id": "evt_01kjt5r2g0e0t8vz1q0m3w0001",
                  "message_id": "msg_01kjt5r2g0e0t8vz1q0m3w0004",
                  "flow_id": "flw_01kjt5r2g0e0t8vz1q0m3w0002",
                  "contact": {
                    "id": "con_01kjt5r2g0e0t8vz1q0m3w0003",
                    "email": "ada@example.com",
                    "first_name": "Ada"
                  }
                }
              }
            },
            {
              "event_name": "emailComplaint",
              "description": "The recipient reported an email as spam. The address is suppressed.",
              "in_all_events": true,
              "example": {
                "event_name": "emailComplaint",
                "organization_id": "org_01kjt5r2g0e0t8vz1q0m3w0003",
                "timestamp": 1772446500,
                "data": {
                  "event_id": "evt_01kjt5r2g0e0t8vz1q0m3w0001",
                  "message_id": "msg_01kjt5r2g0e0t8vz1q0m3w0004",
                  "flow_id": "flw_01kjt5r2g0e0t8vz1q0m3w0002",
                  "contact": {
                    "id": "con_01kjt5r2g0e0t8vz1q0m3w0003",
                    "email": "ada@example.com",
                    "first_name": "Ada"
                  },
                  "feedback_type": "abuse"
                }
              }
            },
            {
              "event_name": "contactUnsubscribe",
              "description": "A contact unsubscribed from marketing email.",
              "in_all_events": true,
              "example": {
                "event_name": "contactUnsubscribe",
                "organization_id": "org_01kjt5r2g0e0t8vz1q0m3w0003",
                "timestamp": 1772446500,
                "data": {
                  "event_id": "evt_01kjt5r2g0e0t8vz1q0m3w0001",
                  "message_id": "msg_01kjt5r2g0e0t8vz1q0m3w0004",
                  "flow_id": "flw_01kjt5r2g0e0t8vz1q0m3w0002",
                  "contact": {
                    "id": "con_01kjt5r2g0e0t8vz1q0m3w0003",
                    "email": "ada@example.com",
                    "first_name": "Ada"
                  },
                  "method": "one_click"
                }
              }
            },
            {
              "event_name": "contactCreated",
              "description": "A contact was created.",
              "in_all_events": false,
              "example": {
                "event_name": "contactCreated",
                "organization_id": "org_01kjt5r2g0e0t8vz1q0m3w0003",
                "timestamp": 1772446500,
                "data": {
                  "event_id": "evt_01kjt5r2g0e0t8vz1q0m3w0001",
                  "message_id": null,
                  "flow_id": null,
                  "contact": {
                    "id": "con_01kjt5r2g0e0t8vz1q0m3w0003",
                    "email": "ada@example.com",
                    "first_name": "Ada"
                  },
                  "source": {
                    "type": "api_key",
                    "id": "key_01kjt5r2g0e0t8vz1q0m3w0001"
                  },
                  "subscription": "subscribed"
                }
              }
            },
            {
              "event_name": "contactUpdated",
              "description": "The address, a name or an attribute of a contact was changed.",
              "in_all_events": false,
              "example": {
                "event_name": "contactUpdated",
                "organization_id": "org_01kjt5r2g0e0t8vz1q0m3w0003",
                "timestamp": 1772446500,
                "data": {
                  "event_id": "evt_01kjt5r2g0e0t8vz1q0m3w0001",
                  "message_id": null,
                  "flow_id": null,
                  "contact": {
                    "id": "con_01kjt5r2g0e0t8vz1q0m3w0003",
                    "email": "ada@example.com",
                    "first_name": "Ada"
                  },
                  "source": {
                    "type": "api_key",
                    "id": "key_01kjt5r2g0e0t8vz1q0m3w0001"
                  },
                  "fields": [
                    "first_name",
                    "attributes"
                  ]
                }
              }
            },
            {
              "event_name": "contactSubscribed",
              "description": "A contact was subscribed to marketing email: when it was created, added to a group, or subscribed again.",
              "in_all_events": false,
              "example": {
                "event_name": "contactSubscribed",
                "organization_id": "org_01kjt5r2g0e0t8vz1q0m3w0003",
                "timestamp": 1772446500,
                "data": {
                  "event_id": "evt_01kjt5r2g0e0t8vz1q0m3w0001",
                  "message_id": null,
                  "flow_id": null,
                  "contact": {
                    "id": "con_01kjt5r2g0e0t8vz1q0m3w0003",
                    "email": "ada@example.com",
                    "first_name": "Ada"
                  },
                  "source": {
                    "type": "api_key",
                    "id": "key_01kjt5r2g0e0t8vz1q0m3w0001"
                  },
                  "subscription": "subscribed"
                }
              }
            },
            {
              "event_name": "broadcastStarted",
              "description": "A broadcast started, or its failed recipients are being retried.",
              "in_all_events": false,
              "example": {
                "event_name": "broadcastStarted",
                "organization_id": "org_01kjt5r2g0e0t8vz1q0m3w0003",
                "timestamp": 1772446500,
                "data": {
                  "event_id": "evt_01kjt5r2g0e0t8vz1q0m3w0001",
                  "message_id": null,
                  "flow_id": "flw_01kjt5r2g0e0t8vz1q0m3w0002",
                  "contact": null,
                  "id": "brc_01kjt5r2g0e0t8vz1q0m3w0001",
                  "name": "November news",
                  "status": "sending",
                  "counts": {
                    "recipients": 1204,
                    "pending": 1204,
                    "queued": 0,
                    "sent": 0,
                    "bounced": 0,
                    "suppressed": 0,
                    "unsubscribed": 0,
                    "failed": 0,
                    "cancelled": 0
                  }
                }
              }
            },
            {
              "event_name": "broadcastFinished",
              "description": "A broadcast has ended: it was sent or cancelled, or has expired.",
              "in_all_events": false,
              "example": {
                "event_name": "broadcastFinished",
                "organization_id": "org_01kjt5r2g0e0t8vz1q0m3w0003",
                "timestamp": 1772446500,
                "data": {
                  "event_id": "evt_01kjt5r2g0e0t8vz1q0m3w0001",
                  "message_id": null,
                  "flow_id": "flw_01kjt5r2g0e0t8vz1q0m3w0002",
                  "contact": null,
                  "id": "brc_01kjt5r2g0e0t8vz1q0m3w0001",
                  "name": "November news",
                  "status": "sent",
                  "counts": {
                    "recipients": 1204,
                    "pending": 0,
                    "queued": 0,
                    "sent": 1201,
                    "bounced": 3,
                    "suppressed": 0,
                    "unsubscribed": 0,
                    "failed": 0,
                    "cancelled": 0
                  }
                }
              }
            }
          ]
        }
      }
    }
  ],
  "listEvents": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/events",
        "query": {
          "event_name": "emailClick"
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
              "event_name": "emailClick",
              "occurred_at": "2026-03-02T10:15:00.480Z",
              "machine": false,
              "machine_reason": null,
              "message_id": "msg_01kjt5r2g0e0t8vz1q0m3w0002",
              "flow_id": "flw_01kjt5r2g0e0t8vz1q0m3w0001",
              "flow_name": "Order shipped",
              "contact": {
                "id": "con_01kjt5r2g0e0t8vz1q0m3w0001",
                "email": "ada@example.com",
                "first_name": "Ada"
              },
              "data": {
                "url": "https://shop.example.com/orders/1042",
                "user_agent": "Mozilla/5.0 (Macintosh; Intel Mac OS X 14_5) AppleWebKit/605.1.15"
              }
            }
          ],
          "next_cursor": null
        }
      }
    }
  ],
  "getEvent": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/events/evt_01kjt5r2g0e0t8vz1q0m3w0002",
        "params": {
          "id": "evt_01kjt5r2g0e0t8vz1q0m3w0002"
        }
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "OK",
          "data": {
            "id": "evt_01kjt5r2g0e0t8vz1q0m3w0002",
            "event_name": "emailClick",
            "occurred_at": "2026-03-02T10:15:00.480Z",
            "machine": false,
            "machine_reason": null,
            "message_id": "msg_01kjt5r2g0e0t8vz1q0m3w0002",
            "flow_id": "flw_01kjt5r2g0e0t8vz1q0m3w0001",
            "flow_name": "Order shipped",
            "contact": {
              "id": "con_01kjt5r2g0e0t8vz1q0m3w0001",
              "email": "ada@example.com",
              "first_name": "Ada"
            },
            "data": {
              "url": "https://shop.example.com/orders/1042",
              "user_agent": "Mozilla/5.0 (Macintosh; Intel Mac OS X 14_5) AppleWebKit/605.1.15"
            }
          }
        }
      }
    }
  ],
  "getOverview": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/overview",
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
                "total": 1,
                "unique": 1,
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
            "series": [
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
                  "total": 1,
                  "unique": 1,
                  "machine": 0
                }
              }
            ],
            "top_flows": [
              {
                "flow_id": "flw_01kjt5r2g0e0t8vz1q0m3w0001",
                "name": "Order shipped",
                "sent": 3,
                "opens_unique": 1,
                "clicks_unique": 1,
                "bounces": 0,
                "unsubscribes": 0
              }
            ]
          }
        }
      }
    }
  ],
  "getChecklist": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/checklist"
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "OK",
          "data": {
            "sent": true,
            "opened": true,
            "clicked": true,
            "flow": true,
            "contacts": true,
            "api_key": true,
            "webhook": false
          }
        }
      }
    }
  ]
}
