// Recorded by test/reference.test.ts. To record it again, run: npx vitest run test/reference.test.ts -u
import type { Examples } from '../types.ts'

export const examples: Examples = {
  "getRegistrationStatus": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/auth/state"
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "OK",
          "data": {
            "registration_open": true,
            "has_users": true
          }
        }
      }
    }
  ],
  "register": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/auth/register",
        "body": {
          "organization_name": "Northwind Books",
          "email": "maria@northwind.example",
          "password": "violet anchor drizzle maple"
        }
      },
      "response": {
        "status": 201,
        "body": {
          "code": 201,
          "status": "success",
          "message": "Welcome",
          "data": {
            "token": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ1c3JfMDFranQ1cjAifQ.4rX1mC0nUq2sZpV7yQ9dLw3kTb6hJf8eGaR5oNiYxHs",
            "expires_at": "2026-03-09T09:30:00.000Z",
            "organization_id": "org_01kjt5r2g0e0t8vz1q0m3w0002",
            "user": {
              "id": "usr_01kjt5r2g0e0t8vz1q0m3w0001",
              "email": "maria@northwind.example",
              "role": "owner",
              "created_at": "2026-03-02T09:30:00.000Z"
            }
          }
        }
      }
    },
    {
      "title": "validation_failed",
      "request": {
        "path": "/api/v1/auth/register",
        "body": {
          "organization_name": "Northwind Books",
          "email": "maria@northwind.example",
          "password": "short"
        }
      },
      "response": {
        "status": 422,
        "body": {
          "code": 422,
          "status": "error",
          "message": "password: must have at least 10 characters",
          "data": null,
          "error": {
            "type": "validation_failed",
            "fields": [
              {
                "path": "password",
                "problem": "must have at least 10 characters"
              }
            ],
            "request_id": "req_5d0c8f1e9a4b7c26000001"
          }
        }
      }
    }
  ],
  "login": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/auth/login",
        "body": {
          "email": "maria@northwind.example",
          "password": "violet anchor drizzle maple"
        }
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "OK",
          "data": {
            "token": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ1c3JfMDFranQ1cjAifQ.4rX1mC0nUq2sZpV7yQ9dLw3kTb6hJf8eGaR5oNiYxHs",
            "expires_at": "2026-03-09T09:30:00.000Z",
            "organization_id": "org_01kjt5r2g0e0t8vz1q0m3w0002",
            "user": {
              "id": "usr_01kjt5r2g0e0t8vz1q0m3w0001",
              "email": "maria@northwind.example",
              "role": "owner",
              "created_at": "2026-03-02T09:30:00.000Z"
            }
          }
        }
      }
    },
    {
      "title": "unauthorized",
      "request": {
        "path": "/api/v1/auth/login",
        "body": {
          "email": "maria@northwind.example",
          "password": "guess"
        }
      },
      "response": {
        "status": 401,
        "body": {
          "code": 401,
          "status": "error",
          "message": "The email address or password is incorrect.",
          "data": null,
          "error": {
            "type": "unauthorized",
            "fields": [],
            "request_id": "req_5d0c8f1e9a4b7c26000001"
          }
        }
      }
    }
  ],
  "getMe": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/me"
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "OK",
          "data": {
            "user": {
              "id": "usr_01kjt5r2g0e0t8vz1q0m3w0002",
              "email": "owner@acme.example",
              "role": "owner",
              "created_at": "2026-03-02T09:30:00.000Z"
            },
            "organization": {
              "id": "org_01kjt5r2g0e0t8vz1q0m3w0001",
              "name": "Acme",
              "timezone": "UTC",
              "keep_addresses": false,
              "created_at": "2026-03-02T09:30:00.000Z"
            },
            "role": "owner",
            "operator": true,
            "mail": {
              "transport": "inbox"
            }
          }
        }
      }
    }
  ],
  "signOutEverywhere": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/me/sign-out-everywhere"
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "You are signed out everywhere",
          "data": null
        }
      }
    }
  ],
  "changePassword": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/me/password",
        "body": {
          "current_password": "violet anchor drizzle maple",
          "new_password": "violet anchor drizzle maple again"
        }
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "Password changed",
          "data": {
            "token": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ1c3JfMDFranQ1cjAifQ.4rX1mC0nUq2sZpV7yQ9dLw3kTb6hJf8eGaR5oNiYxHs",
            "expires_at": "2026-03-09T09:30:00.000Z",
            "organization_id": "org_01kjt5r2g0e0t8vz1q0m3w0002",
            "user": {
              "id": "usr_01kjt5r2g0e0t8vz1q0m3w0001",
              "email": "maria@northwind.example",
              "role": "owner",
              "created_at": "2026-03-02T09:30:00.000Z"
            }
          }
        }
      }
    }
  ]
}
