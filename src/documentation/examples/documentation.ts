// Recorded by test/reference.test.ts. To record it again, run: npx vitest run test/reference.test.ts -u
import type { Examples } from '../types.ts'

export const examples: Examples = {
  "getOpenApiDocument": [
    {
      "title": "Success",
      "request": {
        "path": "/openapi.json"
      },
      "response": {
        "status": 200,
        "body": {
          "openapi": "3.1.0",
          "info": {
            "title": "Waxwing API",
            "version": "0.2.0"
          },
          "paths": {}
        }
      }
    }
  ]
}
