import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../config/package-root.ts'
import { SetupFault } from '../values/errors.ts'

/** Of the bundle, when it was built (scripts/bundle.ts). */
declare const newestMigrationAtBuild: number | undefined

export const migrationsFolder = join(packageRoot, 'src/platform/db/migrations')

/** The number of the newest migration that this process knows. The files do not change while it runs. */
export const newestMigration: number = Math.max(
  ...readdirSync(migrationsFolder)
    .filter((file) => file.endsWith('.sql'))
    .map((file) => Number.parseInt(file, 10)),
)

// Older code on a newer database would break what its migrations and formats rely on.
if (typeof newestMigrationAtBuild === 'number' && newestMigrationAtBuild !== newestMigration)
  throw new SetupFault(
    `The program was built with the migrations up to ${newestMigrationAtBuild}, but the source has those up to ${newestMigration}. Build it with: npm run build`,
  )
