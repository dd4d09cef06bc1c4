// Recorded by test/reference.test.ts. To record it again, run: npx vitest run test/reference.test.ts -u
import type { Examples } from '../types.ts'

export const examples: Examples = {
  "getOrganization": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization"
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "OK",
          "data": {
            "id": "org_01kjt5r2g0e0t8vz1q0m3w0001",
            "name": "Acme",
            "timezone": "UTC",
            "keep_addresses": false,
            "created_at": "2026-03-02T09:30:00.000Z",
            "event_retention_months": null
          }
        }
      }
    }
  ],
  "updateOrganization": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization",
        "body": {
          "timezone": "Europe/Vienna"
        }
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "OK",
          "data": {
            "id": "org_01kjt5r2g0e0t8vz1q0m3w0001",
            "name": "Acme",
            "timezone": "Europe/Vienna",
            "keep_addresses": false,
            "created_at": "2026-03-02T09:30:00.000Z",
            "event_retention_months": null
          }
        }
      }
    }
  ],
  "deleteOrganization": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization",
        "body": {
          "name": "Northwind Books",
          "password": "violet anchor drizzle maple again"
        }
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "Organization deleted. Its data is being erased.",
          "data": null
        }
      }
    }
  ],
  "listNotices": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/notices"
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
  ]
}
