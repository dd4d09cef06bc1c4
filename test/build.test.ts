import { spawn } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { newFolder, watch } from './support/command.ts'

const { version } = JSON.parse(readFileSync('package.json', 'utf8'))

test('commands in a checkout build only after a change, and a built one can be used without write access', async () => {
  using folder = newFolder()
  const copy = [
    'package.json',
    'src',
    'scripts',
    'packages',
    'dist/bin',
    'dist/scripts',
    'dist/src/platform/config',
    'web/src',
  ]
  const isNeeded = (path: string) => !/node_modules|\.(test\.ts|map)$|\/(test|fixtures)$/.test(path)
  for (const path of copy) cpSync(path, join(folder.path, path), { recursive: true, filter: isNeeded })
  chmodSync(folder.path, 0o755)
  writeFileSync(join(folder.path, 'dist/.built'), '')
  // Without node_modules, every build fails.
  const path = process.env.PATH!.split(':').filter((each) => !each.endsWith('node_modules/.bin'))
  const run = async (user: { uid?: number; gid?: number }) => {
    const options = { cwd: folder.path, env: { PATH: path.join(':'), HOME: '/nonexistent' }, ...user }
    await using npm = watch(spawn('npm', ['run', '--silent', 'waxwing', '--', '--version'], options))
    return await npm.ended
  }
  const other = userInfo().uid === 0 ? { uid: 65_534, gid: 65_534 } : {}
  for (const name of ['web/dist', 'dist/documentation']) mkdirSync(join(folder.path, name))
  writeFileSync(join(folder.path, 'dist/documentation/files.json'), '')
  writeFileSync(join(folder.path, 'web/dist/index.html'), '')
  expect(await run(other)).toMatchObject({ code: 0, stdout: `${version}\n`, stderr: '' })

  const later = Date.now() / 1000 + 5
  utimesSync(join(folder.path, 'src/cli.ts'), later, later)
  expect(await run({})).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('sdk/generate.mjs') })
})

test('an older build does not start beside newer migrations, and neither does its sending process', async () => {
  using folder = newFolder()
  for (const path of ['package.json', 'src/platform/db/migrations', 'dist/bin'])
    cpSync(path, join(folder.path, path), { recursive: true })
  symlinkSync(resolve('node_modules'), join(folder.path, 'node_modules'))
  writeFileSync(join(folder.path, 'src/platform/db/migrations/9999_newer.sql'), 'select 1')
  for (const words of [['cli.js', 'serve'], ['sending-process.js']]) {
    const program = [join(folder.path, 'dist/bin', words[0]!), ...words.slice(1)]
    await using command = watch(spawn(process.execPath, program, { cwd: folder.path, env: {} }))
    const { code, stderr } = await command.ended
    expect([code, stderr]).toEqual([1, expect.stringMatching(/migrations up to \d+, but .* up to 9999.*npm run build/)])
  }
})
