/** The start of the reference, in Markdown. */
export const introduction = `
Waxwing sends email, records what happens to it, and reports it to your systems. This reference describes every operation of its HTTP
API. All examples were recorded from a running service by its tests.

The **public API** (\`/public/api/v1\`) is what an application calls while it runs. The **management API** (\`/api/v1\`) is what the web app
uses: contacts, flows, webhooks and everything else.

## Authentication

| API | Credential | Header |
| --- | --- | --- |
| Public API | API key | \`X-Api-Token: wxk_…\` or \`Authorization: Bearer wxk_…\` |
| Management API | session token of a user | \`Authorization: Bearer …\` |
| Management API | API key with the scope of the operation | \`X-Api-Token: wxk_…\` or \`Authorization: Bearer wxk_…\` |

Create an API key in the web app under Developers, or with \`POST /api/v1/organization/api-keys\`. A key belongs to one organization and
carries scopes. It is shown once and stored only as a hash. A revoked key stops working within two seconds.

| Scope | Allows |
| --- | --- |
| \`messages:send\` | send email through flows |
| \`messages:read\` | read messages and their events |
| \`contacts:read\`, \`contacts:write\` | read; add, change, import and erase contacts, groups and suppressions |
| \`flows:read\`, \`flows:write\` | read and preview; create, change and delete flows |
| \`webhooks:read\`, \`webhooks:write\` | read; create, change, delete, test and replay webhooks and deliveries |
| \`broadcasts:read\`, \`broadcasts:write\` | read; create, change, check, pause and cancel broadcasts |
| \`broadcasts:send\` | start, schedule and resume broadcasts, choose a variant, and retry failed recipients |
| \`metrics:read\` | read events, counts and the overview |

Two scopes have a second name, from before there were scopes by resource: \`flows:send\` is the same as \`messages:send\`, and
\`analytics:read\` the same as \`metrics:read\`. Both names keep working; a key may have either. Only people who may start broadcasts can create a
key with \`broadcasts:send\`. It works as long as its creator is a member with that permission.

A key that was created without scopes, or before there were scopes by resource, can call the public API only. Operations that concern
the team, API keys, accounts or the organization itself require a signed-in user. A missing scope responds with 403 \`insufficient_scope\`.

Get a session token with \`POST /api/v1/auth/login\`. It is valid for twelve hours, until the
password is changed or the user signs out everywhere.

The organization always follows from the credential. No path, parameter or body can name another organization, and records of other
organizations respond with 404.

## Responses

Every response is JSON in one envelope. \`code\` repeats the HTTP status (only in \`GET /health\` it is 0); \`data\` has the result.

\`\`\`json
{ "code": 200, "status": "success", "message": "OK", "data": { "id": "con_01kjt5r2g0e0t8vz1q0m3w6y7b" } }
\`\`\`

Identifiers are strings with a prefix that names the kind of record, such as \`con_\` for contacts and \`msg_\` for messages. Treat the rest as
opaque. Times are ISO 8601 in UTC, except \`timestamp\` in webhook payloads, which is in seconds since 1970. Every response has an
\`X-Request-Id\` header; include it when you report a problem.

## Errors

\`\`\`json
{
  "code": 422,
  "status": "error",
  "message": "members.3.email: must contain one @.",
  "data": null,
  "error": {
    "type": "validation_failed",
    "fields": [{ "path": "members.3.email", "problem": "must contain one @" }],
    "request_id": "req_5d0c8f1e9a4b7c26000001"
  }
}
\`\`\`

\`message\` is a sentence for people and may change. Programs should use the HTTP status and \`error.type\`, which do not change.

With \`Accept: application/problem+json\`, errors are sent as Problem Details (RFC 9457) with the same information: \`type\` is
\`urn:waxwing:error:\` and the error type, \`detail\` is the message, and \`error\` is the same object as above.

| Status | \`error.type\` | Retry |
| --- | --- | --- |
| 400 | \`invalid_json\`, \`invalid_idempotency_key\`, \`invalid_request\` | no |
| 401 | \`unauthorized\` | with another credential |
| 403 | \`insufficient_scope\`, \`forbidden\` | no |
| 404 | \`not_found\` | no |
| 405 | \`method_not_allowed\` | no |
| 409 | \`conflict\`, \`flow_not_active\`, \`idempotency_key_reused\`, \`idempotency_in_progress\` | depends on the operation |
| 412 | \`precondition_failed\` | after fetching the record again |
| 413, 415 | \`payload_too_large\`, \`unsupported_media_type\` | no |
| 422 | \`validation_failed\`, \`missing_variables\`, \`sender_not_verified\` | no |
| 429 | \`rate_limited\` | after \`Retry-After\` |
| 431 | \`invalid_request\`: the URL and the headers have more than 16 KiB | no |
| 500 | \`internal\` | yes, with backoff |
| 503 | \`unavailable\` | after \`Retry-After\` |

## Idempotency

Sending an email accepts an \`Idempotency-Key\` header of 1 to 255 visible characters, bare or in double quotes. If a request times out, repeat it with the same key and
body: the first response is returned again with \`Idempotent-Replayed: true\`, and nothing is sent twice. Keys are kept for 24 hours. The
same key with another body is rejected with 409 \`idempotency_key_reused\`.

## Concurrent edits

\`GET\` and \`PATCH\` of a flow, a webhook, a contact and the organization return an \`ETag\`. Send it as \`If-Match\` when you change the record: if
somebody edited it since then, the response is 412 \`precondition_failed\` and nothing is changed. Without \`If-Match\`, the last change wins; fields
that you omit are never overwritten.

## Pagination

Long lists are returned in pages. \`next_cursor\` beside \`data\` is the cursor of the next page, or null on the last page; pass it as
\`cursor\`, or follow the URL in the \`Link\` header (\`rel="next"\`). \`limit\` is the size of a page, 1 to 100, by default 50. Records that are added or deleted while you page cause neither
duplicates nor gaps.

## Rate limits

| Requests | Limit by default | Setting |
| --- | --- | --- |
| with an API key | 500 a second for each key | \`RATE_LIMIT_PER_SECOND\` |
| with a session | 100 a second for each user, 1,000 at once | \`RATE_LIMIT_SESSION_PER_SECOND\` |
| sign-in and registration | 60 a minute for each address | \`RATE_LIMIT_SIGN_IN_PER_MINUTE\` |

A request above the limit responds with 429 and \`Retry-After\`. Responses announce the limit and what is left of it in the headers of
draft-ietf-httpapi-ratelimit-headers: \`RateLimit-Policy: "api-key";q=500;w=1\` is a quota of 500 requests in a window of 1 second,
\`RateLimit: "api-key";r=499;t=1\` means that 499 are left and that the whole quota is available again in 1 second.

## Versioning

The version is part of the path (\`v1\`). Within a version, changes are additions only: new operations, new optional parameters, new fields in
responses, new event types and new error types. Ignore fields and event types that you do not know.

## Unknown fields and parameters

| Where | What happens |
| --- | --- |
| Query parameters of \`GET\` operations | 422, with the allowed ones |
| Bodies that create, change, start or schedule a broadcast | 422, with the allowed fields |
| Bodies that send an email | A field that is probably misspelt, such as \`sendAt\` for \`send_at\`, is rejected with 422. Others are ignored and listed in \`warnings\`. |
| Other bodies | Ignored |

Empty query parameters (\`?status=\`) count as omitted.
`.trim()
