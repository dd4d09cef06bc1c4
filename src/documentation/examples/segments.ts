// Recorded by test/reference.test.ts. To record it again, run: npx vitest run test/reference.test.ts -u
import type { Examples } from '../types.ts'

export const examples: Examples = {
  "countSegment": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/segments/seg_01kjt5r2g0e0t8vz1q0m3w0001/count",
        "params": {
          "id": "seg_01kjt5r2g0e0t8vz1q0m3w0001"
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
            "exact": true
          }
        }
      }
    }
  ],
  "listSegments": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/segments"
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "OK",
          "data": [
            {
              "id": "seg_01kjt5r2g0e0t8vz1q0m3w0001",
              "name": "Inactive customers",
              "filter": {
                "type": "all",
                "conditions": [
                  {
                    "type": "status",
                    "operator": "is",
                    "value": "subscribed"
                  },
                  {
                    "type": "text",
                    "field": "attributes.plan",
                    "operator": "equals",
                    "value": "pro"
                  },
                  {
                    "type": "group",
                    "operator": "member",
                    "group_id": "grp_01kjt5r2g0e0t8vz1q0m3w0001"
                  },
                  {
                    "type": "engagement",
                    "operator": "did_not",
                    "event": "emailClick",
                    "within_days": 60
                  }
                ]
              },
              "created_at": "2026-03-02T09:30:00.000Z",
              "updated_at": "2026-03-02T09:41:12.000Z"
            }
          ]
        }
      }
    }
  ],
  "createSegment": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/segments",
        "body": {
          "name": "Inactive customers",
          "filter": {
            "type": "all",
            "conditions": [
              {
                "type": "status",
                "operator": "is",
                "value": "subscribed"
              },
              {
                "type": "text",
                "field": "attributes.plan",
                "operator": "equals",
                "value": "pro"
              },
              {
                "type": "group",
                "operator": "member",
                "group_id": "grp_01kjt5r2g0e0t8vz1q0m3w0001"
              },
              {
                "type": "engagement",
                "operator": "did_not",
                "event": "emailClick",
                "within_days": 60
              }
            ]
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
            "id": "seg_01kjt5r2g0e0t8vz1q0m3w0001",
            "name": "Inactive customers",
            "filter": {
              "type": "all",
              "conditions": [
                {
                  "type": "status",
                  "operator": "is",
                  "value": "subscribed"
                },
                {
                  "type": "text",
                  "field": "attributes.plan",
                  "operator": "equals",
                  "value": "pro"
                },
                {
                  "type": "group",
                  "operator": "member",
                  "group_id": "grp_01kjt5r2g0e0t8vz1q0m3w0001"
                },
                {
                  "type": "engagement",
                  "operator": "did_not",
                  "event": "emailClick",
                  "within_days": 60
                }
              ]
            },
            "created_at": "2026-03-02T09:30:00.000Z",
            "updated_at": "2026-03-02T09:41:12.000Z"
          }
        }
      }
    },
    {
      "title": "conflict",
      "request": {
        "path": "/api/v1/organization/segments",
        "body": {
          "name": "Inactive customers",
          "filter": {
            "type": "text",
            "field": "attributes.plan",
            "operator": "equals",
            "value": "pro"
          }
        }
      },
      "response": {
        "status": 409,
        "body": {
          "code": 409,
          "status": "error",
          "message": "A segment with this name already exists.",
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
        "path": "/api/v1/organization/segments",
        "body": {
          "name": "S",
          "filter": {
            "type": "text",
            "field": "attributes.plan",
            "operator": "like",
            "value": "pro"
          }
        }
      },
      "response": {
        "status": 422,
        "body": {
          "code": 422,
          "status": "error",
          "message": "filter.operator: must be one of equals, not_equals, contains, not_contains, starts_with, ends_with, is_set, is_not_set.",
          "data": null,
          "error": {
            "type": "validation_failed",
            "fields": [
              {
                "path": "filter.operator",
                "problem": "must be one of equals, not_equals, contains, not_contains, starts_with, ends_with, is_set, is_not_set"
              }
            ],
            "request_id": "req_5d0c8f1e9a4b7c26000001"
          }
        }
      }
    }
  ],
  "getSegment": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/segments/seg_01kjt5r2g0e0t8vz1q0m3w0001",
        "params": {
          "id": "seg_01kjt5r2g0e0t8vz1q0m3w0001"
        }
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "OK",
          "data": {
            "id": "seg_01kjt5r2g0e0t8vz1q0m3w0001",
            "name": "Inactive customers",
            "filter": {
              "type": "all",
              "conditions": [
                {
                  "type": "status",
                  "operator": "is",
                  "value": "subscribed"
                },
                {
                  "type": "text",
                  "field": "attributes.plan",
                  "operator": "equals",
                  "value": "pro"
                },
                {
                  "type": "group",
                  "operator": "member",
                  "group_id": "grp_01kjt5r2g0e0t8vz1q0m3w0001"
                },
                {
                  "type": "engagement",
                  "operator": "did_not",
                  "event": "emailClick",
                  "within_days": 60
                }
              ]
            },
            "created_at": "2026-03-02T09:30:00.000Z",
            "updated_at": "2026-03-02T09:41:12.000Z"
          }
        }
      }
    }
  ],
  "updateSegment": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/segments/seg_01kjt5r2g0e0t8vz1q0m3w0001",
        "params": {
          "id": "seg_01kjt5r2g0e0t8vz1q0m3w0001"
        },
        "body": {
          "name": "Customers who did not click"
        }
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "OK",
          "data": {
            "id": "seg_01kjt5r2g0e0t8vz1q0m3w0001",
            "name": "Customers who did not click",
            "filter": {
              "type": "all",
              "conditions": [
                {
                  "type": "status",
                  "operator": "is",
                  "value": "subscribed"
                },
                {
                  "type": "text",
                  "field": "attributes.plan",
                  "operator": "equals",
                  "value": "pro"
                },
                {
                  "type": "group",
                  "operator": "member",
                  "group_id": "grp_01kjt5r2g0e0t8vz1q0m3w0001"
                },
                {
                  "type": "engagement",
                  "operator": "did_not",
                  "event": "emailClick",
                  "within_days": 60
                }
              ]
            },
            "created_at": "2026-03-02T09:30:00.000Z",
            "updated_at": "2026-03-02T09:41:12.000Z"
          }
        }
      }
    }
  ],
  "deleteSegment": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/segments/seg_01kjt5r2g0e0t8vz1q0m3w0001",
        "params": {
          "id": "seg_01kjt5r2g0e0t8vz1q0m3w0001"
        }
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "Segment deleted",
          "data": null
        }
      }
    }
  ]
}
