import { blocksOf, readGuide } from './guide-blocks.ts'

export type Vector = { what: string; header: string; isGenuine: boolean }

const guide = 'verifying-webhooks'
const blocks = blocksOf(guide).filter(({ mode }) => mode === 'vectors')
const codeIn = (language: string) => blocks.find((block) => block.language === language)?.code ?? ''

/** The test vectors of the guide on verifying webhooks, and the code it shows by language. */
export const webhookVectors = {
  now: Number(/The time is always (\d+)/.exec(readGuide(guide))?.[1]),
  secret: /`(whsec_[^`]+)`,/.exec(readGuide(guide))?.[1] ?? '',
  body: codeIn('json'),
  vectors: [...readGuide(guide).matchAll(/^\| ([^|]+) \| `([^`]+)` \| (yes|no) \|$/gm)].map(
    ([, what, header, genuine]): Vector => ({ what: what!, header: header!, isGenuine: genuine === 'yes' }),
  ),
  code: Object.fromEntries(['ts', 'python', 'go', 'php', 'ruby'].map((language) => [language, codeIn(language)])),
}

const base64 = (text: string) => Buffer.from(text).toString('base64')
const headers = webhookVectors.vectors.map(({ header }) => base64(header))
const { now, secret, body } = webhookVectors

/** Programs that print "true" or "false" for each vector, one to a line. Headers and body are passed in base64. */
export const vectorPrograms: Record<string, { command: string; args: string[]; file: string; source: string }> = {
  python: {
    command: 'python3',
    args: [],
    file: 'vectors.py',
    source: `${webhookVectors.code.python}

import base64

body = base64.b64decode("${base64(body)}")
for header in ${JSON.stringify(headers)}:
    print(str(is_from_waxwing(body, base64.b64decode(header).decode(), "${secret}", ${now})).lower())
`,
  },
  go: {
    command: 'go',
    args: ['run'],
    file: 'vectors.go',
    source: `${webhookVectors.code
      .go!.replace('package waxwing', 'package main')
      .replace('import (', 'import (\n\t"encoding/base64"\n\t"fmt"')}
func main() {
	body, _ := base64.StdEncoding.DecodeString("${base64(body)}")
	for _, encoded := range []string{${headers.map((header) => `"${header}"`).join(', ')}} {
		header, _ := base64.StdEncoding.DecodeString(encoded)
		fmt.Println(IsFromWaxwing(body, string(header), "${secret}", ${now}))
	}
}
`,
  },
  php: {
    command: 'php',
    args: [],
    file: 'vectors.php',
    source: `<?php
${webhookVectors.code.php}
foreach (${JSON.stringify(headers)} as $header) {
    echo is_from_waxwing(base64_decode('${base64(body)}'), base64_decode($header), '${secret}', ${now}) ? 'true' : 'false', "\\n";
}
`,
  },
  ruby: {
    command: 'ruby',
    args: [],
    file: 'vectors.rb',
    source: `${webhookVectors.code.ruby}
body = '${base64(body)}'.unpack1('m')
${JSON.stringify(headers)}.each { |header| puts from_waxwing?(body, header.unpack1('m'), '${secret}', ${now}) }
`,
  },
}
