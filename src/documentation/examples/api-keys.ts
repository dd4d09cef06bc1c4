// Recorded by test/reference.test.ts. To record it again, run: npx vitest run test/reference.test.ts -u
import type { Examples } from '../types.ts'

export const examples: Examples = {
  "listApiKeys": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/api-keys"
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "OK",
          "data": [
            {
              "id": "key_01kjt5r2g0e0t8vz1q0m3w0002",
              "name": "Shop backend",
              "prefix": "wxk_8sKq",
              "scopes": [
                "contacts:write",
                "messages:send"
              ],
              "public_only": false,
              "held": false,
              "created_at": "2026-03-02T09:30:00.000Z",
              "last_used_at": null,
              "created_by": {
                "id": "usr_01kjt5r2g0e0t8vz1q0m3w0002",
                "email": "owner@acme.example"
              }
            },
            {
              "id": "key_01kjt5r2g0e0t8vz1q0m3w0003",
              "name": "test",
              "prefix": "wxk_8sKq",
              "scopes": [
                "contacts:write",
                "flows:send",
                "analytics:read"
              ],
              "public_only": true,
              "held": false,
              "created_at": "2026-03-02T09:30:00.000Z",
              "last_used_at": null,
              "created_by": {
                "id": "usr_01kjt5r2g0e0t8vz1q0m3w0002",
                "email": "owner@acme.example"
              }
            }
          ]
        }
      }
    }
  ],
  "createApiKey": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/api-keys",
        "body": {
          "name": "Shop backend",
          "scopes": [
            "contacts:write",
            "messages:send"
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
            "id": "key_01kjt5r2g0e0t8vz1q0m3w0002",
            "name": "Shop backend",
            "prefix": "wxk_8sKq",
            "scopes": [
              "contacts:write",
              "messages:send"
            ],
            "public_only": false,
            "held": false,
            "created_at": "2026-03-02T09:30:00.000Z",
            "last_used_at": null,
            "created_by": {
              "id": "usr_01kjt5r2g0e0t8vz1q0m3w0002",
              "email": "owner@acme.example"
            },
            "api_key": "wxk_8sKq2LmV5xTz7RwYb1NcDf4Gh9Jp3Qa6Ue0Wi8Zo2Xs"
          }
        }
      }
    }
  ],
  "revokeApiKey": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/api-keys/key_01kjt5r2g0e0t8vz1q0m3w0002",
        "params": {
          "id": "key_01kjt5r2g0e0t8vz1q0m3w0002"
        }
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "API key revoked",
          "data": null
        }
      }
    }
  ]
}
