// Recorded by test/reference.test.ts. To record it again, run: npx vitest run test/reference.test.ts -u
import type { Examples } from '../types.ts'

export const examples: Examples = {
  "listGroups": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/groups"
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "OK",
          "data": [
            {
              "id": "grp_01kjt5r2g0e0t8vz1q0m3w0001",
              "name": "Newsletter",
              "member_count": 2,
              "created_at": "2026-03-02T09:30:00.000Z"
            }
          ]
        }
      }
    }
  ],
  "createGroup": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/groups",
        "body": {
          "name": "Newsletter"
        }
      },
      "response": {
        "status": 201,
        "body": {
          "code": 201,
          "status": "success",
          "message": "Created",
          "data": {
            "id": "grp_01kjt5r2g0e0t8vz1q0m3w0001",
            "name": "Newsletter",
            "member_count": 0,
            "created_at": "2026-03-02T09:30:00.000Z"
          }
        }
      }
    }
  ],
  "getGroup": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/groups/grp_01kjt5r2g0e0t8vz1q0m3w0001",
        "params": {
          "id": "grp_01kjt5r2g0e0t8vz1q0m3w0001"
        }
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "OK",
          "data": {
            "id": "grp_01kjt5r2g0e0t8vz1q0m3w0001",
            "name": "Newsletter",
            "member_count": 2,
            "created_at": "2026-03-02T09:30:00.000Z"
          }
        }
      }
    }
  ],
  "updateGroup": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/groups/grp_01kjt5r2g0e0t8vz1q0m3w0001",
        "params": {
          "id": "grp_01kjt5r2g0e0t8vz1q0m3w0001"
        },
        "body": {
          "name": "Monthly newsletter"
        }
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "OK",
          "data": {
            "id": "grp_01kjt5r2g0e0t8vz1q0m3w0001",
            "name": "Monthly newsletter",
            "member_count": 2,
            "created_at": "2026-03-02T09:30:00.000Z"
          }
        }
      }
    }
  ],
  "deleteGroup": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/groups/grp_01kjt5r2g0e0t8vz1q0m3w0003",
        "params": {
          "id": "grp_01kjt5r2g0e0t8vz1q0m3w0003"
        }
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "Group deleted",
          "data": null
        }
      }
    }
  ],
  "addContactsToGroup": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/groups/grp_01kjt5r2g0e0t8vz1q0m3w0001/members",
        "params": {
          "id": "grp_01kjt5r2g0e0t8vz1q0m3w0001"
        },
        "body": {
          "contact_ids": [
            "con_01kjt5r2g0e0t8vz1q0m3w0004"
          ]
        }
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "OK",
          "data": {
            "added": 1
          }
        }
      }
    }
  ],
  "removeContactFromGroup": [
    {
      "title": "Success",
      "request": {
        "path": "/api/v1/organization/groups/grp_01kjt5r2g0e0t8vz1q0m3w0001/members/con_01kjt5r2g0e0t8vz1q0m3w0004",
        "params": {
          "id": "grp_01kjt5r2g0e0t8vz1q0m3w0001",
          "contact_id": "con_01kjt5r2g0e0t8vz1q0m3w0004"
        }
      },
      "response": {
        "status": 200,
        "body": {
          "code": 200,
          "status": "success",
          "message": "Contact removed from the group",
          "data": null
        }
      }
    }
  ]
}
