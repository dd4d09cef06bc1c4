// Recorded by test/reference.test.ts. To record it again, run: npx vitest run test/reference.test.ts -u
import type { Examples } from '../types.ts'

export const examples: Examples = {
  "getInvitation": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/auth/invitations/inv_01kjt5r2g0e0t8vz1q0m3w0001Zk4mQ8vTs1Lx6Rb0Nf3Wy9Hd2Gc7Jp5AeUiKoXqMtV",
        "params": {
          "token": "inv_01kjt5r2g0e0t8vz1q0m3w0001Zk4mQ8vTs1Lx6Rb0Nf3Wy9Hd2Gc7Jp5AeUiKoXqMtV"
        }
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "OK",
          "data": {
            "organization_name": "Acme",
            "email": "noah@acme.example",
            "role": "member",
            "expires_at": "2026-03-09T09:30:00.000Z"
          }
        }
      }
    },
    {
      "title": "not_found",
      "request": {
        "path": "/api/v1/auth/invitations/inv_01kjt5r2g0e0t8vz1q0m3w0001Zk4mQ8vTs1Lx6Rb0Nf3Wy9Hd2Gc7Jp5AeUiKoXqMtV",
        "params": {
          "token": "inv_01kjt5r2g0e0t8vz1q0m3w0001Zk4mQ8vTs1Lx6Rb0Nf3Wy9Hd2Gc7Jp5AeUiKoXqMtV"
        }
      },
      "response": {
        "status": 404,
        "body": {
          "code": 404,
          "status": "error",
          "message": "This invitation is no longer valid. Ask an owner of the organization for a new one.",
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
  "acceptInvitation": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/auth/accept-invitation",
        "body": {
          "token": "inv_01kjt5r2g0e0t8vz1q0m3w0001Zk4mQ8vTs1Lx6Rb0Nf3Wy9Hd2Gc7Jp5AeUiKoXqMtV",
          "name": "Noah",
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
            "organization_id": "org_01kjt5r2g0e0t8vz1q0m3w0001",
            "user": {
              "id": "usr_01kjt5r2g0e0t8vz1q0m3w0003",
              "email": "noah@acme.example",
              "name": "Noah",
              "role": "member",
              "can_start_broadcasts": false,
              "created_at": "2026-03-02T09:30:00.000Z"
            }
          }
        }
      }
    }
  ],
  "listMembers": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/members"
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "OK",
          "data": [
            {
              "id": "usr_01kjt5r2g0e0t8vz1q0m3w0002",
              "email": "owner@acme.example",
              "name": "Ada Lovelace",
              "role": "owner",
              "can_start_broadcasts": true,
              "created_at": "2026-03-02T09:30:00.000Z",
              "last_login_at": "2026-03-02T08:58:41.000Z"
            },
            {
              "id": "usr_01kjt5r2g0e0t8vz1q0m3w0003",
              "email": "noah@acme.example",
              "name": "Noah",
              "role": "member",
              "can_start_broadcasts": false,
              "created_at": "2026-03-02T09:30:00.000Z",
              "last_login_at": "2026-03-02T08:58:41.000Z"
            }
          ]
        }
      }
    }
  ],
  "updateMember": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/members/usr_01kjt5r2g0e0t8vz1q0m3w0003",
        "params": {
          "id": "usr_01kjt5r2g0e0t8vz1q0m3w0003"
        },
        "body": {
          "role": "owner"
        }
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "OK",
          "data": {
            "id": "usr_01kjt5r2g0e0t8vz1q0m3w0003",
            "email": "noah@acme.example",
            "name": "Noah",
            "role": "owner",
            "can_start_broadcasts": true,
            "created_at": "2026-03-02T09:30:00.000Z",
            "last_login_at": "2026-03-02T08:58:41.000Z"
          }
        }
      }
    }
  ],
  "removeMember": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/members/usr_01kjt5r2g0e0t8vz1q0m3w0003",
        "params": {
          "id": "usr_01kjt5r2g0e0t8vz1q0m3w0003"
        },
        "query": {
          "revoke_api_keys": "true"
        }
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "Member removed",
          "data": null
        }
      }
    }
  ],
  "listInvitations": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/invitations"
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "OK",
          "data": [
            {
              "id": "inv_01kjt5r2g0e0t8vz1q0m3w0001",
              "email": "noah@acme.example",
              "role": "member",
              "created_at": "2026-03-02T09:30:00.000Z",
              "expires_at": "2026-03-09T09:30:00.000Z",
              "sent_at": "2026-03-02T10:15:00.480Z"
            }
          ]
        }
      }
    }
  ],
  "createInvitation": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/invitations",
        "body": {
          "email": "noah@acme.example",
          "role": "member"
        }
      },
      "response": {
        "status": 201,
        "body": {
          "code": 201,
          "status": "success",
          "message": "Created",
          "data": {
            "id": "inv_01kjt5r2g0e0t8vz1q0m3w0001",
            "email": "noah@acme.example",
            "role": "member",
            "created_at": "2026-03-02T09:30:00.000Z",
            "expires_at": "2026-03-09T09:30:00.000Z",
            "sent_at": "2026-03-02T10:15:00.480Z",
            "token": "inv_01kjt5r2g0e0t8vz1q0m3w0001Zk4mQ8vTs1Lx6Rb0Nf3Wy9Hd2Gc7Jp5AeUiKoXqMtV",
            "url": "https://mail.example.com/invitation/inv_01kjt5r2g0e0t8vz1q0m3w0001Zk4mQ8vTs1Lx6Rb0Nf3Wy9Hd2Gc7Jp5AeUiKoXqMtV"
          }
        }
      }
    }
  ],
  "resendInvitation": [
    {
      "title": "rate_limited",
      "request": {
        "path": "/api/v1/organization/invitations/inv_01kjt5r2g0e0t8vz1q0m3w0001/resend",
        "params": {
          "id": "inv_01kjt5r2g0e0t8vz1q0m3w0001"
        }
      },
      "response": {
        "status": 429,
        "headers": {
          "retry-after": "60"
        },
        "body": {
          "code": 429,
          "status": "error",
          "message": "This invitation was just sent. Wait a minute before you send it again.",
          "data": null,
          "error": {
            "type": "rate_limited",
            "fields": [],
            "request_id": "req_5d0c8f1e9a4b7c26000001"
          }
        }
      }
    },
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/invitations/inv_01kjt5r2g0e0t8vz1q0m3w0001/resend",
        "params": {
          "id": "inv_01kjt5r2g0e0t8vz1q0m3w0001"
        }
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "Invitation sent",
          "data": {
            "id": "inv_01kjt5r2g0e0t8vz1q0m3w0001",
            "email": "noah@acme.example",
            "role": "member",
            "created_at": "2026-03-02T09:30:00.000Z",
            "expires_at": "2026-03-09T09:30:00.000Z",
            "sent_at": "2026-03-02T10:15:00.480Z"
          }
        }
      }
    }
  ],
  "deleteInvitation": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/invitations/inv_01kjt5r2g0e0t8vz1q0m3w0002",
        "params": {
          "id": "inv_01kjt5r2g0e0t8vz1q0m3w0002"
        }
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "Invitation withdrawn",
          "data": null
        }
      }
    }
  ]
}
