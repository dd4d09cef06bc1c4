// Recorded by test/reference.test.ts. To record it again, run: npx vitest run test/reference.test.ts -u
import type { Examples } from '../types.ts'

export const examples: Examples = {
  "listSuppressions": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/suppressions",
        "query": {
          "reason": "manual"
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
              "email": "older@example.org",
              "reason": "manual",
              "detail": "Closed accounts",
              "created_at": "2026-03-02T09:30:00.000Z",
              "message_id": null
            },
            {
              "email": "old@example.org",
              "reason": "manual",
              "detail": "Closed accounts",
              "created_at": "2026-03-02T09:30:00.000Z",
              "message_id": null
            },
            {
              "email": "legal@example.org",
              "reason": "manual",
              "detail": "Asked by phone",
              "created_at": "2026-03-02T09:30:00.000Z",
              "message_id": null
            }
          ],
          "next_cursor": null
        }
      }
    }
  ],
  "createSuppression": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/suppressions",
        "body": {
          "email": "legal@example.org",
          "detail": "Asked by phone"
        }
      },
      "response": {
        "status": 201,
        "body": {
          "code": 201,
          "status": "success",
          "message": "Created",
          "data": {
            "email": "legal@example.org",
            "reason": "manual",
            "detail": "Asked by phone",
            "created_at": "2026-03-02T09:30:00.000Z",
            "message_id": null
          }
        }
      }
    }
  ],
  "deleteSuppression": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/suppressions/legal%40example.org",
        "params": {
          "email": "legal@example.org"
        }
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "Suppressions removed",
          "data": null
        }
      }
    },
    {
      "title": "not_found",
      "request": {
        "path": "/api/v1/organization/suppressions/nobody%40example.org",
        "params": {
          "email": "nobody@example.org"
        }
      },
      "response": {
        "status": 404,
        "body": {
          "code": 404,
          "status": "error",
          "message": "This address is not suppressed.",
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
  "suppressAddresses": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/suppressions/list",
        "body": {
          "list": "legal@example.org\nlegal@\nold@example.org, older@example.org",
          "detail": "Closed accounts"
        }
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "OK",
          "data": {
            "added": 2,
            "already_suppressed": 1,
            "rejected": 1,
            "results": [
              {
                "line": 1,
                "text": "legal@example.org",
                "email": "legal@example.org",
                "status": "already_suppressed",
                "problem": null
              },
              {
                "line": 2,
                "text": "legal@",
                "email": null,
                "status": "rejected",
                "problem": "is not a valid email address"
              },
              {
                "line": 3,
                "text": "old@example.org",
                "email": "old@example.org",
                "status": "added",
                "problem": null
              },
              {
                "line": 3,
                "text": "older@example.org",
                "email": "older@example.org",
                "status": "added",
                "problem": null
              }
            ]
          }
        }
      }
    }
  ]
}
