import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { newFolder, startCommand } from '../../../test/support/command.ts'
import { freePort } from '../../../test/support/service.ts'
import { createTestDb } from '../../../test/support/test-db.ts'

test('a worker process serves only health, readiness and metrics on WORK_PORT', async () => {
  using folder = newFolder()
  await using testDb = await createTestDb()
  const [PORT, WORK_PORT] = [String(await freePort()), String(await freePort())]
  const environment = { DATABASE_URL: testDb.url, SMTP_URL: 'smtp://127.0.0.1:9', PORT, WORK_PORT, LOG_LEVEL: 'silent' }
  writeFileSync(join(folder.path, '.env'), 'SMPT_URL=smtp://relay.example')
  await using work = startCommand(['work'], environment, { cwd: folder.path })
  await work.says('is ready')
  await work.says('Note       Unknown setting SMPT_URL in .env. Did you mean SMTP_URL?')
  await work.says('Note       Links in emails point to http://localhost')

  const get = (path: string, port = WORK_PORT) => fetch(`http://127.0.0.1:${port}${path}`)
  expect(await (await get('/health')).json()).toMatchObject({ code: 0, status: 'success' })
  expect((await get('/ready')).status).toBe(200)
  expect(await (await get('/metrics')).text()).toContain('waxwing_relay_up')
  expect((await get('/api/v1/me')).status).toBe(404)
  expect((await get('/')).status).toBe(404)
  await expect(get('/health', PORT)).rejects.toThrow('fetch failed')

  await using second = startCommand(['work'], environment, { cwd: folder.path })
  const taken = `Port ${WORK_PORT} is in use. Set WORK_PORT to another port, or stop the program that uses it.\n`
  expect(await second.ended).toMatchObject({ code: 1, stderr: taken })
})
