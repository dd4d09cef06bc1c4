// TypeScript needs declarations in a CommonJS folder for projects that compile to `require`. They are copies: at run time,
// `require` loads the same modules as `import`.
import { cpSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const from = join(import.meta.dirname, 'dist')
const to = join(from, 'commonjs')
rmSync(to, { recursive: true, force: true })
cpSync(from, `${from}-commonjs`, {
  recursive: true,
  filter: (path) => !/\.[a-z]+$/.test(path) || path.endsWith('.d.ts'),
})
cpSync(`${from}-commonjs`, to, { recursive: true })
rmSync(`${from}-commonjs`, { recursive: true })
writeFileSync(join(to, 'package.json'), '{ "type": "commonjs" }\n')
