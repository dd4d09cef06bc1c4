import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { newFolder, startCommand, watch } from '../../../test/support/command.ts'
import { orderFlow } from '../../../test/support/flows.ts'
import { hang, startRawSmtp } from '../../../test/support/raw-smtp.ts'
import { create } from '../../../test/support/resources.ts'
import { freePort, newCustomer } from '../../../test/support/service.ts'
import { callUrl } from '../../../test/support/test-app.ts'
import { longTestMsMax } from '../../../test/support/time-limits.ts'
import { until } from '../../../test/support/until.ts'

const project = join(import.meta.dirname, '../../..')

test('npm start exits together with the service', async () => {
  using folder = newFolder()
  const port = await freePort()
  const npm = spawn('npm', ['start'], {
    cwd: project,
    env: { PATH: process.env.PATH, HOME: folder.path, DATA_DIR: join(folder.path, 'data'), PORT: String(port) },
    // In its own process group, so that a service that does not stop is killed with the test.
    detached: true,
  })
  await using running = watch(npm, () => killGroup(npm.pid!))
  await running.says('is ready.')
  const gone = once(npm, 'exit')
  npm.kill('SIGTERM')
  await gone
  const isAnswering = () =>
    fetch(`http://127.0.0.1:${port}/health`).then(
      () => true,
      () => false,
    )
  await until('the service to be gone', async () => !(await isAnswering()))
  expect(await running.ended).toMatchObject({ stdout: expect.stringContaining('Stopping') })
})

// Both wait for most of their time.
test.concurrent.each([
  ['does not reply to an email', 'end'],
  ['does not send a greeting', 'greeting'],
])(
  'a service whose relay %s stops on a signal, and sends the email after a restart',
  { timeout: longTestMsMax.processes },
  async (_how, hangsAt) => {
    using folder = newFolder()
    const port = await freePort()
    let hanging = true
    let stuck = 0
    await using relay = await startRawSmtp({
      answer: ({ verb }) => {
        if (verb !== hangsAt || !hanging) return undefined
        stuck++
        return hang
      },
    })
    const settings = {
      DATA_DIR: join(folder.path, 'data'),
      PORT: String(port),
      SMTP_URL: relay.url,
      LOG_LEVEL: 'error',
    }
    {
      await using service = startCommand(['start'], settings, { cwd: folder.path })
      await service.says('is ready.')
      await sendOne(`http://127.0.0.1:${port}`)
      await until('the relay to hang', () => stuck > 0)
      service.child.kill('SIGTERM')
      // A process that does not stop in time exits with 1.
      const { code, stdout, stderr } = await service.ended
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      expect(stdout).not.toContain('failed')
    }
    hanging = false
    await using again = startCommand(['start'], settings, { cwd: folder.path })
    await again.says('is ready.')
    await until('the mail to arrive', () => relay.mails.length === 1)
  },
)

test('a service that waits for its database stops on a signal', async () => {
  using folder = newFolder()
  const nobody = await freePort()
  const settings = { DATA_DIR: folder.path, DATABASE_URL: `postgres://me@127.0.0.1:${nobody}/waxwing` }
  await using service = startCommand(['start'], settings, { cwd: folder.path })
  await service.says('Database unreachable; retrying')
  service.child.kill('SIGTERM')
  const { code, stdout, stderr } = await service.ended
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toContain('Stopping before the database could be reached')
})

async function sendOne(url: string): Promise<void> {
  const customer = await newCustomer(url)
  const flowId = (await create(customer, '/flows', orderFlow)).id
  const body = { flow_id: flowId, contact_email: 'ada@example.com', context: { order_id: 1 } }
  const headers = { 'x-api-token': customer.apiKey }
  await callUrl('POST', `${url}/public/api/v1/flow/send-email-through-flow`, { headers, body })
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // All processes have exited.
  }
}
