// Recorded by test/reference.test.ts. To record it again, run: npx vitest run test/reference.test.ts -u
import type { Examples } from '../types.ts'

export const examples: Examples = {
  "receiveSesEvents": [
    {
      "title": "unauthorized",
      "request": {
        "path": "/providers/ses/events",
        "body": {
          "Type": "Notification",
          "TopicArn": "arn:aws:sns:eu-west-1:123456789012:another-topic",
          "MessageId": "22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324",
          "Message": "{\"eventType\":\"Bounce\",\"bounce\":{\"bounceType\":\"Permanent\"}}",
          "SignatureVersion": "2",
          "Signature": "not the signature of Amazon SNS",
          "SigningCertURL": "https://sns.eu-west-1.amazonaws.com/SimpleNotificationService.pem"
        }
      },
      "response": {
        "status": 401,
        "body": {
          "code": 401,
          "status": "error",
          "message": "The request could not be authenticated as coming from the provider.",
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
  "receiveSendgridEvents": [
    {
      "title": "Success",
      "request": {
        "path": "/providers/sendgrid/events",
        "headers": {
          "Content-Type": "application/json"
        },
        "text": "[{\"event\":\"bounce\",\"type\":\"bounce\",\"status\":\"5.1.1\",\"reason\":\"550 5.1.1 No such user\",\"smtp-id\":\"<msg_01kjt5r2g0e0t8vz1q0m3w0014@acme.example>\"}]"
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "OK",
          "data": {
            "received": 1,
            "recorded": 0
          }
        }
      }
    }
  ],
  "receiveMailgunEvents": [
    {
      "title": "Success",
      "request": {
        "path": "/providers/mailgun/events",
        "body": {
          "signature": {
            "timestamp": "1772446500",
            "token": "a8ce0edb2dd8301dee6c2405235584e45aa91d1e9f979f3de0",
            "signature": "7d6f1c0e5b8a4f3d9c2e1a0b7f6d5c4e3b2a19087f6e5d4c3b2a190817263544"
          },
          "event-data": {
            "event": "failed",
            "severity": "permanent",
            "delivery-status": {
              "code": 550,
              "message": "5.1.1 No such user"
            },
            "message": {
              "headers": {
                "message-id": "msg_01kjt5r2g0e0t8vz1q0m3w0014@acme.example"
              }
            }
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
            "received": 1,
            "recorded": 0
          }
        }
      }
    }
  ],
  "receivePostmarkEvents": [
    {
      "title": "Success",
      "request": {
        "path": "/providers/postmark/events",
        "body": {
          "RecordType": "Bounce",
          "Type": "HardBounce",
          "Details": "550 5.1.1 No such user",
          "BouncedAt": "2026-03-02T10:15:00Z",
          "Metadata": {
            "waxwing-id": "the-id-from-the-email"
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
            "received": 1,
            "recorded": 0
          }
        }
      }
    }
  ]
}
