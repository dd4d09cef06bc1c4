import { spawn } from 'node:child_process'
import { createServer } from 'node:http'
import { expect, test } from 'vitest'
import { watch } from '../../test/support/command.ts'
import { happen } from '../../test/support/events.ts'
import { createFlow } from '../../test/support/flows.ts'
import { freePort } from '../../test/support/service.ts'
import { startSharedApp, type TestApp } from '../../test/support/test-app.ts'
import { until } from '../../test/support/until.ts'
import { startReceiver } from '../../test/support/webhook-receiver.ts'
import { runDeveloperCommand } from './developer-commands.ts'
import { verifyWebhook } from './verify.ts'

const newApp = await startSharedApp()

/** Starts a command in this process. */
function run(args: string[], environment: Record<string, string> = {}) {
  const lines: string[] = []
  const errors: string[] = []
  const ending = new AbortController()
  const code = runDeveloperCommand({
    args,
    environment,
    program: 'waxwing',
    print: (line) => lines.push(line),
    printError: (line) => errors.push(line),
    signal: ending.signal,
  })
  return { lines, errors, code, end: () => ending.abort() }
}

const access = (app: TestApp) => ({ WAXWING_API_KEY: app.apiKey, WAXWING_URL: app.url })
const secretIn = (lines: string[]) => /whsec_\S+/.exec(lines.join('\n'))?.[0]

test('listen forwards new events with a valid signature, and prints the local response', async () => {
  const app = await newApp()
  await happen(app.db, app.organizationId, 'emailComplaint')
  // Transactions of other tests can delay when the feed returns it, and then it is new to the command.
  await until('the feed', async () => (await app.publicApi('GET', '/events')).body.data.events.length > 0)
  let status = 200
  await using receiver = await startReceiver((response) => response.writeHead(status).end(), { plain: true })
  const command = run(['listen', '--forward-to', receiver.url()], access(app))
  await until('the command to be ready', () => secretIn(command.lines))
  await until('new events to be forwarded', async () => {
    await happen(app.db, app.organizationId, 'emailClick')
    return receiver.posts.length > 0
  })
  const { body, headers } = receiver.posts[0]!
  const event = verifyWebhook(String(body), headers as Record<string, string>, secretIn(command.lines)!)
  expect(event).toMatchObject({ event_name: 'emailClick', organization_id: app.organizationId })
  expect(headers).toMatchObject({
    'webhook-id': event.data.event_id,
    'x-service-event': 'emailClick',
    'content-type': 'application/json',
  })
  status = 500
  await until('a line with the status', async () => {
    await happen(app.db, app.organizationId, 'emailClick')
    return command.lines.some((line) => /emailClick +evt_\w+ {2}500 \(\d+ ms\)$/.test(line))
  })
  command.end()
  expect(await command.code).toBe(0)
  expect(receiver.posts.map(({ headers }) => headers['x-service-event'])).not.toContain('emailComplaint')
})

test('listen begins after a cursor, selects events by name, uses the given secret, and continues if nothing listens', async () => {
  const app = await newApp()
  await happen(app.db, app.organizationId, 'emailSent')
  const first = await until('the feed', async () => {
    const { body } = await app.publicApi('GET', '/events')
    return body.data.events[0] as { cursor: string } | undefined
  })
  await happen(app.db, app.organizationId, 'emailOpen')
  await happen(app.db, app.organizationId, 'emailClick')
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw2mFJkTqK7Xs='
  const flags = ['--events', 'emailClick, emailComplaint', '--secret', secret, '--after', first.cursor]
  const nobody = `http://127.0.0.1:${await freePort()}/`
  const command = run(['listen', '--forward-to', nobody, ...flags], access(app))
  await until('the event', () => command.lines.some((line) => line.includes('emailClick')))
  command.end()
  await command.code
  expect(command.lines.join('\n')).not.toMatch(/emailOpen|whsec_/)
  expect(command.lines.at(-1)).toContain('failed: connection refused; is your server running?')
})

test('listen continues after network errors', async () => {
  const app = await newApp()
  let isDown = false
  // A proxy that breaks connections while it is down.
  const proxy = createServer(async (request, response) => {
    if (isDown) return void request.socket.destroy()
    const answer = await fetch(`${app.url}${request.url}`, { headers: { 'x-api-token': app.apiKey } })
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text())
  }).listen(0, '127.0.0.1')
  await until('the proxy', () => proxy.listening)
  const url = `http://127.0.0.1:${(proxy.address() as { port: number }).port}`
  await using receiver = await startReceiver((response) => response.end(), { plain: true })
  const command = run(['listen', '--forward-to', receiver.url(), '--url', url, '--api-key', app.apiKey])
  await until('the command to be ready', () => secretIn(command.lines))
  await until('the first event', async () => {
    await happen(app.db, app.organizationId, 'emailOpen')
    return receiver.posts.length > 0
  })
  isDown = true
  proxy.closeAllConnections()
  await until('a message', () => command.lines.some((line) => line.includes('Trying again in')))
  await happen(app.db, app.organizationId, 'emailClick')
  isDown = false
  await until('the event', () => receiver.posts.some(({ headers }) => headers['x-service-event'] === 'emailClick'))
  command.end()
  expect(await command.code).toBe(0)
  proxy.close()
})

test.each([
  [
    ['listen', '--forward-to', 'http://127.0.0.1:9/', '--api-key', `wxk_${'0'.repeat(40)}`],
    1,
    /API key is invalid or was revoked/,
  ],
  [['listen', '--forward-to', 'localhost:4000'], 2, /--forward-to must be an address/],
  [['listen', '--forward-to', 'http://127.0.0.1:9/', '--secret', 'abc'], 2, /--secret must be a signing secret/],
  [
    ['listen', '--forward-to', 'http://127.0.0.1:9/', '--events', 'emailOpen,emailClik'],
    2,
    /emailClik is not an event. --events can name emailSent, emailOpen/,
  ],
  [['listen', '--to', 'x'], 2, /Unknown option '--to'/],
  [['trigger', 'broadcastStarted', '--flow', 'flw_1'], 2, /cannot be triggered. Choose one of emailSent, emailOpen/],
  [['trigger'], 2, /Name one event/],
  [['trigger', 'emailClick', '--flow', 'flw_1', '--context', '[1]'], 2, /--context must be a JSON object/],
  [['forward'], 2, /Unknown command "forward"/],
])('%j ends with a message', async (args, code, message) => {
  const app = await newApp()
  const command = run(args, access(app))
  expect([await command.code, command.errors.join('\n')]).toEqual([code, expect.stringMatching(message)])
})

test('a key without the scope ends listen with a message', async () => {
  const app = await newApp()
  const { body } = await app.manage('POST', '/organization/api-keys', { name: 'k', scopes: ['contacts:write'] })
  const environment = { ...access(app), WAXWING_API_KEY: body.data.api_key }
  const command = run(['listen', '--forward-to', 'http://127.0.0.1:9/'], environment)
  expect(await command.code).toBe(1)
  expect(command.errors.join('\n')).toContain('This API key does not have the scope metrics:read.')
  const missing = run(['listen', '--forward-to', 'http://127.0.0.1:9/'])
  expect([await missing.code, missing.errors[0]]).toEqual([2, expect.stringContaining('An API key is required')])
})

test.each([
  'emailSent',
  'emailOpen',
  'emailClick',
  'emailSoftBounce',
  'emailHardBounce',
  'emailComplaint',
  'contactUnsubscribe',
])('trigger causes %s, with a flow and without', async (eventName) => {
  const app = await newApp()
  const flowId = await createFlow(app, { name: eventName })
  const withFlow = run(['trigger', eventName, '--flow', flowId, '--context', '{"order_id":1}'], access(app))
  const commands = [withFlow, run(['trigger', eventName], access(app)), run(['trigger', eventName], access(app))]
  for (const command of commands) {
    expect([await command.code, command.errors]).toEqual([0, []])
    expect(command.lines[1]).toMatch(new RegExp(`^${eventName} evt_`))
  }
})

test.each([
  ['the SDK', 'sdk/dist/cli.js'],
  ['the service', 'dist/bin/cli.js'],
])('the program of %s listens until it is interrupted', async (_name, program) => {
  const app = await newApp()
  await using receiver = await startReceiver((response) => response.end(), { plain: true })
  const env = { PATH: process.env.PATH, ...access(app) }
  const child = spawn(process.execPath, [program, 'listen', '--forward-to', receiver.url()], { env })
  await using running = watch(child)
  await running.says('Signing secret')
  await until('an event', async () => {
    await happen(app.db, app.organizationId, 'emailOpen')
    return receiver.posts.length > 0
  })
  child.kill('SIGINT')
  expect(await running.ended).toMatchObject({ code: 0, stderr: '' })
})

test('every command describes its flags', async () => {
  for (const name of ['listen', 'trigger']) {
    const command = run([name, '--help'])
    expect(await command.code).toBe(0)
    expect(command.lines.join('\n')).toMatch(/^Usage: waxwing .*--api-key/s)
  }
  const all = run(['--help'])
  expect(await all.code).toBe(0)
  expect(all.lines.join('\n')).toMatch(/listen.*trigger/s)
})
