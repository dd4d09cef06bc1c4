import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { until } from '../../test/support/until.ts'
import { signWebhook } from './signature.ts'

const secret = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8='
const body = JSON.stringify({ event_name: 'emailSent', organization_id: 'org_1', timestamp: 1767225600, data: {} })
const signed = (text: string) =>
  signWebhook({ id: 'dlv_1', timestamp: Math.floor(Date.now() / 1000), body: text, secrets: [secret] })

/** Deliveries, valid and forged, and the expected status of each. */
const deliveries = [
  { body, headers: signed(body), status: 200 },
  { body: `${body} `, headers: signed(body), status: 400 },
  { body, headers: { 'x-service-signature': 'nonsense' }, status: 400 },
  { body, headers: {}, status: 400 },
  { body: '', headers: signed(body), status: 400 },
]

/** The code blocks of a language, in the order of the README. */
function snippets(language: string): string[] {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
  return [...readme.matchAll(/^```(\w+)\n(.*?)^```$/gms)].flatMap(([, name, code]) =>
    name === language ? [code!] : [],
  )
}

// As little of Express as the snippet uses: a request whose body is empty has none there.
const expressBefore = `
import { verifyWebhook, WebhookVerificationError } from '@waxwing/sdk'
type Handler = (
  request: { body: Buffer | undefined; headers: Record<string, string> },
  response: { sendStatus(status: number): void },
) => void
let answer: Handler
const secret = '${secret}'
const express = { raw: (options: { type: (() => boolean) | string }) => options }
const app = { post: (_path: string, _raw: object, handler: Handler) => { answer = handler } }
`
const expressAfter = `
for (const { body, headers } of ${JSON.stringify(deliveries)}) {
  const lowered = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  answer!({ body: body ? Buffer.from(body) : undefined, headers: lowered }, { sendStatus: (status) => console.log(status) })
}
`
const edgeAfter = `
for (const { body, headers } of ${JSON.stringify(deliveries)}) {
  const given = new Request('https://example.com', { method: 'POST', body, headers: new Headers(Object.entries(headers)) })
  console.log((await receiver.fetch(given, { WAXWING_SECRET: '${secret}' })).status)
}
`

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'waxwing-readme-'))
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  const [calling, managing, node, express, edge] = snippets('ts')
  const programs = {
    'calling.ts': calling!,
    'managing.ts': managing!,
    'node.ts': node!.replace('.listen(8080)', '.listen(process.env.SOCKET!)'),
    'express.ts': expressBefore + express! + expressAfter,
    'edge.ts': edge!.replace('export default', 'const receiver =') + edgeAfter,
  }
  for (const [name, code] of Object.entries(programs)) writeFileSync(join(folder, name), code)
  const options = '--strict --skipLibCheck --target es2023 --module nodenext --types node'.split(' ')
  const compiled = spawnSync(resolve('node_modules/.bin/tsc'), [...options, ...Object.keys(programs)], { cwd: folder })
  expect(String(compiled.stdout)).toBe('')
})
afterAll(() => rmSync(folder, { recursive: true }))

const linesOf = (program: string) =>
  execFileSync(process.execPath, [join(folder, program)], { encoding: 'utf8', stdio: 'pipe' })
    .trim()
    .split('\n')

test.each(['express.js', 'edge.js'])(
  'the receiver of the README in %s answers 400 to what does not verify',
  (program) => {
    expect(linesOf(program).map(Number)).toEqual(deliveries.map(({ status }) => status))
  },
)

test('the Node receiver in the README survives a sender that disconnects', async () => {
  const socketPath = join(folder, 'socket')
  const server = spawn(process.execPath, [join(folder, 'node.js')], {
    env: { ...process.env, SOCKET: socketPath, WAXWING_SECRET: secret },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let complaints = ''
  server.stderr.on('data', (text) => {
    complaints += text
  })
  try {
    await until('the receiver', () => deliver(socketPath, '', {}).then(Boolean, () => false))
    const socket = connect(socketPath)
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc', () => socket.destroy())
    await until('the broken request', () => complaints.includes('aborted'))

    for (const { body, headers, status } of deliveries) expect(await deliver(socketPath, body, headers)).toBe(status)
  } finally {
    server.kill('SIGKILL')
  }
})

function deliver(socketPath: string, body: string, headers: Record<string, string>): Promise<number | undefined> {
  return new Promise((answered, failed) => {
    const call = request({ socketPath, method: 'POST', headers }, (response) => {
      response.resume().on('end', () => answered(response.statusCode))
    })
    call.on('error', failed).end(body)
  })
}
