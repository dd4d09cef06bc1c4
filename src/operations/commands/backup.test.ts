import { join } from 'node:path'
import { expect, test } from 'vitest'
import { newFolder, startCommand } from '../../../test/support/command.ts'
import { freePort } from '../../../test/support/service.ts'
import { longTestMsMax } from '../../../test/support/time-limits.ts'

const timeout = longTestMsMax.processes

/** Runs a command on the embedded database in a directory. */
async function run(words: string[], dataDir: string, settings: Record<string, string> = {}) {
  await using command = startCommand(words, { DATA_DIR: dataDir, ...settings }, { cwd: dataDir })
  command.child.stdin!.end()
  return await command.ended
}

test('the embedded database is backed up beside the service and restored into another directory', {
  timeout,
}, async () => {
  using old = newFolder()
  using fresh = newFolder()
  const file = join(old.path, 'backup')
  const databaseIn = (folder: { path: string }) => `embedded PostgreSQL in ${folder.path}/postgres/cluster`
  let token: string
  {
    const settings = { DATA_DIR: old.path, PORT: String(await freePort()), LOG_LEVEL: 'error' }
    const startedAt = Date.now()
    await using service = startCommand(['start'], settings, { cwd: old.path })
    await service.says('is ready.')
    const created = await run(['create-organization', '--name', 'Acme', '--email', 'a@acme.example'], old.path)
    token = JSON.parse(created.stdout).token
    const made = await run(['backup', file], old.path)
    expect(JSON.parse(made.stdout)).toMatchObject({ database: databaseIn(old) })
    expect(made).toMatchObject({ code: 0, stderr: expect.stringContaining('is not encrypted') })
    const metrics = await (await fetch(`http://127.0.0.1:${settings.PORT}/metrics`)).text()
    const [, seconds] = /^waxwing_last_backup_timestamp_seconds (.+)$/m.exec(metrics)!
    expect(Number(seconds) * 1000).toBeGreaterThan(startedAt)
    expect(await run(['backup', file], old.path)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('already exists'),
    })
    expect(await run(['restore', file, '--replace'], old.path)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is running'),
    })
  }
  expect(await run(['restore', file], old.path)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('Use --replace'),
  })
  const restored = await run(['restore', file], fresh.path)
  expect(restored).toMatchObject({ code: 0 })
  expect(JSON.parse(restored.stdout)).toMatchObject({ database: databaseIn(fresh) })

  const port = await freePort()
  const settings = { DATA_DIR: fresh.path, PORT: String(port), LOG_LEVEL: 'error' }
  await using copy = startCommand(['start'], settings, { cwd: fresh.path })
  await copy.says('is ready.')
  await copy.says('Sending is paused')
  // The session was signed with the secret of the backup.
  const me = await fetch(`http://127.0.0.1:${port}/api/v1/me`, { headers: { authorization: `Bearer ${token}` } })
  expect(await me.json()).toMatchObject({ data: { organization: { name: 'Acme' } } })
  const resume = async () => (await run(['resume-sending'], fresh.path)).stdout
  expect(await resume()).toBe(`Sending is resumed.\nDatabase: ${databaseIn(fresh)}\n`)
  expect(await resume()).toBe(`Sending is not paused.\nDatabase: ${databaseIn(fresh)}\n`)
})

test('a file name is required, and a passphrase has at least 12 characters', { timeout }, async () => {
  using place = newFolder()
  expect(await run(['backup'], place.path)).toMatchObject({ code: 2, stderr: expect.stringContaining('one file') })
  expect(await run(['restore', 'a', 'b'], place.path)).toMatchObject({ code: 2 })
  const short = await run(['backup', 'file'], place.path, { BACKUP_PASSPHRASE: 'short' })
  expect(short).toMatchObject({ code: 1, stderr: expect.stringContaining('BACKUP_PASSPHRASE: must have at least 12') })
})
