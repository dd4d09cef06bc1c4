import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'vitest'
import { packageRoot } from '../../src/config/package-root.ts'

test('the types of the web app match the OpenAPI document (npm run openapi writes both)', () => {
  execFileSync('npm', ['run', '--silent', 'types', '--', '--check'], { cwd: join(packageRoot, 'web'), stdio: 'pipe' })
})
