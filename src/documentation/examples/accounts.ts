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
            "has_users": true,
            "sends_email": false
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
              "name": null,
              "role": "owner",
              "can_start_broadcasts": true,
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
          "message": "password: must have at least 10 characters.",
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
              "name": null,
              "role": "owner",
              "can_start_broadcasts": true,
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
  "requestPasswordReset": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/auth/forgot-password",
        "body": {
          "email": "maria@northwind.example"
        }
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "If this address has an account, an email with a link is on its way",
          "data": null
        }
      }
    }
  ],
  "checkPasswordReset": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/auth/check-password-reset",
        "body": {
          "token": "rst_01kjt5r2g0e0t8vz1q0m3w0001Zk4mQ8vTs1Lx6Rb0Nf3Wy9Hd2Gc7Jp5AeUiKoXqMtV"
        }
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "OK",
          "data": {
            "email": "maria@northwind.example",
            "expires_at": "2026-03-09T09:30:00.000Z"
          }
        }
      }
    }
  ],
  "resetPassword": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/auth/reset-password",
        "body": {
          "token": "rst_01kjt5r2g0e0t8vz1q0m3w0001Zk4mQ8vTs1Lx6Rb0Nf3Wy9Hd2Gc7Jp5AeUiKoXqMtV",
          "password": "violet anchor drizzle maple now"
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
              "name": null,
              "role": "owner",
              "can_start_broadcasts": true,
              "created_at": "2026-03-02T09:30:00.000Z"
            }
          }
        }
      }
    },
    {
      "title": "not_found",
      "request": {
        "path": "/api/v1/auth/reset-password",
        "body": {
          "token": "rst_01kjt5r2g0e0t8vz1q0m3w0001Zk4mQ8vTs1Lx6Rb0Nf3Wy9Hd2Gc7Jp5AeUiKoXqMtV",
          "password": "violet anchor drizzle maple now"
        }
      },
      "response": {
        "status": 404,
        "body": {
          "code": 404,
          "status": "error",
          "message": "This link is no longer valid. Request a new one on the sign-in page.",
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
  "checkEmailChange": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/auth/check-email-change",
        "body": {
          "token": "eml_01kjt5r2g0e0t8vz1q0m3w0001Zk4mQ8vTs1Lx6Rb0Nf3Wy9Hd2Gc7Jp5AeUiKoXqMtV"
        }
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "OK",
          "data": {
            "old_email": "maria@northwind.example",
            "new_email": "maria.novak@northwind.example",
            "expires_at": "2026-03-09T09:30:00.000Z"
          }
        }
      }
    }
  ],
  "confirmEmailChange": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/auth/confirm-email-change",
        "body": {
          "token": "eml_01kjt5r2g0e0t8vz1q0m3w0001Zk4mQ8vTs1Lx6Rb0Nf3Wy9Hd2Gc7Jp5AeUiKoXqMtV"
        }
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "Email address changed",
          "data": {
            "email": "maria.novak@northwind.example"
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
              "name": null,
              "role": "owner",
              "can_start_broadcasts": true,
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
            },
            "alerts": {
              "sending": true,
              "deliverability": true,
              "webhooks": true,
              "imports": true
            },
            "pending_email": null
          }
        }
      }
    }
  ],
  "updateMe": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/me",
        "body": {
          "name": "Ada Lovelace",
          "alerts": {
            "imports": false
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
            "user": {
              "id": "usr_01kjt5r2g0e0t8vz1q0m3w0002",
              "email": "owner@acme.example",
              "name": "Ada Lovelace",
              "role": "owner",
              "can_start_broadcasts": true,
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
            },
            "alerts": {
              "sending": true,
              "deliverability": true,
              "webhooks": true,
              "imports": false
            },
            "pending_email": null
          }
        }
      }
    }
  ],
  "changeEmail": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/me/email",
        "body": {
          "email": "maria.novak@northwind.example",
          "current_password": "violet anchor drizzle maple now"
        }
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "Confirm the new address",
          "data": {
            "email": "maria.novak@northwind.example",
            "expires_at": "2026-03-09T09:30:00.000Z"
          }
        }
      }
    }
  ],
  "cancelEmailChange": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/me/email"
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "Change cancelled",
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
          "current_password": "violet anchor drizzle maple now",
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
              "name": null,
              "role": "owner",
              "can_start_broadcasts": true,
              "created_at": "2026-03-02T09:30:00.000Z"
            }
          }
        }
      }
    }
  ],
  "listSessions": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/me/sessions"
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "OK",
          "data": [
            {
              "id": "ses_01kjt5r2g0e0t8vz1q0m3w0001",
              "current": true,
              "device": "Firefox on Linux",
              "user_agent": "Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0",
              "ip_address": "203.0.113.7",
              "created_at": "2026-03-02T09:30:00.000Z",
              "last_used_at": "2026-03-02T10:15:00.000Z",
              "expires_at": "2026-03-09T09:30:00.000Z"
            },
            {
              "id": "ses_01kjt5r2g0e0t8vz1q0m3w0002",
              "current": false,
              "device": "Firefox on Linux",
              "user_agent": "Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0",
              "ip_address": "203.0.113.7",
              "created_at": "2026-03-02T09:30:00.000Z",
              "last_used_at": "2026-03-02T10:15:00.000Z",
              "expires_at": "2026-03-09T09:30:00.000Z"
            }
          ]
        }
      }
    }
  ],
  "endSession": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/me/sessions/ses_01kjt5r2g0e0t8vz1q0m3w0002",
        "params": {
          "id": "ses_01kjt5r2g0e0t8vz1q0m3w0002"
        }
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "Session ended",
          "data": null
        }
      }
    }
  ],
  "signOut": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/me/sign-out"
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "Signed out",
          "data": null
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
  ]
}
