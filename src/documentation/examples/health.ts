// Recorded by test/reference.test.ts. To record it again, run: npx vitest run test/reference.test.ts -u
import type { Examples } from '../types.ts'

export const examples: Examples = {
  "getHealth": [
    {
      "title": "Success",
      "request": {
        "path": "/health"
      },
      "response": {
        "status": 200,
        "body": {
          "code": 0,
          "status": "success",
          "message": "ok",
          "data": "ok"
        }
      }
    }
  ],
  "getReady": [
    {
      "title": "Success",
      "request": {
        "path": "/ready"
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "ready",
          "data": "ready"
        }
      }
    }
  ]
}
