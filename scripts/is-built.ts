import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../src/platform/config/package-root.ts'
import { newestMtimeMs } from './newest.ts'
import { webSources } from './web-build.ts'

// Run by `npm start` and `npm run waxwing`, which build only if this exits with 1. So a complete build can also be used by those who
// may not write to it. `dist/.built` has the time when the last complete build began.

const files = ['src', 'scripts', 'bench', 'sdk/src', 'sdk/generate.mjs', 'docs', 'package.json', 'package-lock.json']
const ofPackages = readdirSync(join(packageRoot, 'packages')).map((name) => `packages/${name}/src`)
const sources = [...files, ...ofPackages, ...readdirSync(packageRoot).filter((name) => /^tsconfig.*\.json$/.test(name))]

const changedMs = newestMtimeMs([...sources.map((name) => join(packageRoot, name)), ...webSources])
const isComplete = ['dist/bin/cli.js', 'dist/documentation/files.json', 'web/dist/index.html'].every((name) =>
  existsSync(join(packageRoot, name)),
)
const isCurrent = newestMtimeMs([join(packageRoot, 'dist/.built')]) >= changedMs
process.exitCode = isComplete && isCurrent ? 0 : 1
