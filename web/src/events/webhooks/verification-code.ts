/** Code that verifies a delivery, ready to paste. It uses only the standard library of each language. */
export const verificationCode: { language: string; code: string }[] = [
  {
    language: 'TypeScript',
    code: `import { createHmac, timingSafeEqual } from 'node:crypto'

const toleranceSeconds = 300

/** rawBody is the body exactly as received, before any JSON parsing. */
export function isFromWaxwing(rawBody: string, header: string, secret: string): boolean {
  const parts = header.split(',').map((part) => part.split('=', 2))
  const t = parts.find(([name]) => name === 't')?.[1] ?? ''
  if (!(Math.abs(Date.now() / 1000 - Number(t)) <= toleranceSeconds)) return false
  const expected = Buffer.from(createHmac('sha256', secret).update(\`\${t}.\${rawBody}\`).digest('hex'))
  return parts.some(([name, value = '']) => {
    const given = Buffer.from(value)
    return name === 'v1' && given.length === expected.length && timingSafeEqual(given, expected)
  })
}

// if (!isFromWaxwing(rawBody, request.headers['x-service-signature'], process.env.WEBHOOK_SECRET)) answer 400
// With @waxwing/sdk: const event = verifyWebhook(rawBody, request.headers, process.env.WEBHOOK_SECRET)
`,
  },
  {
    language: 'Python',
    code: `import hashlib
import hmac
import time

TOLERANCE_SECONDS = 300


def is_from_waxwing(raw_body: bytes, header: str, secret: str) -> bool:
    """raw_body is the body exactly as received, before any JSON parsing."""
    parts = [part.partition("=")[::2] for part in header.split(",")]
    t = next((value for name, value in parts if name == "t"), "")
    if not t.isdecimal() or abs(time.time() - int(t)) > TOLERANCE_SECONDS:
        return False
    expected = hmac.new(secret.encode(), t.encode() + b"." + raw_body, hashlib.sha256).hexdigest()
    return any(name == "v1" and hmac.compare_digest(value.encode(), expected.encode()) for name, value in parts)


# if not is_from_waxwing(request.get_data(), request.headers["X-Service-Signature"], WEBHOOK_SECRET): abort(400)
`,
  },
  {
    language: 'Go',
    code: `package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"
)

const tolerance = 5 * time.Minute

// IsFromWaxwing takes the body exactly as received, before any JSON parsing.
func IsFromWaxwing(rawBody []byte, header, secret string) bool {
	var t string
	var given []string
	for _, part := range strings.Split(header, ",") {
		name, value, _ := strings.Cut(part, "=")
		switch name {
		case "t":
			t = value
		case "v1":
			given = append(given, value)
		}
	}
	seconds, err := strconv.ParseInt(t, 10, 64)
	if err != nil || time.Since(time.Unix(seconds, 0)).Abs() > tolerance {
		return false
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(t + "."))
	mac.Write(rawBody)
	expected := []byte(hex.EncodeToString(mac.Sum(nil)))
	for _, signature := range given {
		if hmac.Equal([]byte(signature), expected) {
			return true
		}
	}
	return false
}

// if !webhook.IsFromWaxwing(body, r.Header.Get("X-Service-Signature"), secret) { w.WriteHeader(400) }
`,
  },
  {
    language: 'PHP',
    code: `<?php

const TOLERANCE_SECONDS = 300;

/** $rawBody is the body exactly as received: file_get_contents('php://input'). */
function is_from_waxwing(string $rawBody, string $header, string $secret): bool
{
    $t = '';
    $given = [];
    foreach (explode(',', $header) as $part) {
        [$name, $value] = array_pad(explode('=', $part, 2), 2, '');
        if ($name === 't') {
            $t = $value;
        } elseif ($name === 'v1') {
            $given[] = $value;
        }
    }
    if (!ctype_digit($t) || abs(time() - (int) $t) > TOLERANCE_SECONDS) {
        return false;
    }
    $expected = hash_hmac('sha256', "$t.$rawBody", $secret);
    foreach ($given as $signature) {
        if (hash_equals($expected, $signature)) {
            return true;
        }
    }
    return false;
}

// is_from_waxwing(file_get_contents('php://input'), $_SERVER['HTTP_X_SERVICE_SIGNATURE'], $secret) or http_response_code(400);
`,
  },
]
