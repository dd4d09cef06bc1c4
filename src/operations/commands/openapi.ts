import { readConfig } from '../../platform/config/config.ts'
import { openDb } from '../../platform/db/db.ts'
import { openLog } from '../../platform/runtime/log.ts'
import { createService } from '../../service.ts'
import { documentOf } from '../documentation/api-document.ts'

/** Prints the OpenAPI document. Needs no database, since no query runs before the first request. */
export async function printOpenApi(): Promise<undefined> {
  const config = readConfig({})
  const db = openDb({ connection: { connectionString: 'postgres://localhost/none' } })
  const secrets = { current: 'only to build the routes, signs nothing', previous: undefined }
  const app = await createService({
    config,
    secrets,
    db,
    log: await openLog('silent'),
    roles: ['serve'],
    describesApi: true,
  })
  process.stdout.write(`${JSON.stringify(await documentOf(app.server))}\n`)
  await app.stop()
  await db.close()
}
