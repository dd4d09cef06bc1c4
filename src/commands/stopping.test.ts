import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { newFolder, watch } from '../../test/support/command.ts'
import { freePort } from '../../test/support/service.ts'
import { until } from '../../test/support/until.ts'

const project = join(import.meta.dirname, '../..')

test('npm start ends with the service when it is told to', async () => {
  using folder = newFolder()
  const port = await freePort()
  const npm = spawn('npm', ['start'], {
    cwd: project,
    env: { PATH: process.env.PATH, HOME: folder.path, DATA_DIR: join(folder.path, 'data'), PORT: String(port) },
    // A group of its own, so that a service that lives on ends with the test all the same.
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
  await until('the service to be gone', async () => !(await isAnswering()), 20_000)
  expect(await running.ended).toMatchObject({ stdout: expect.stringContaining('Stopping') })
})

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // All of it has ended.
  }
}
