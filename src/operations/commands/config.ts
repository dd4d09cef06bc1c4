import { describeConfig, readSettings } from '../../platform/config/config.ts'
import { settingGroups } from '../../platform/config/settings.ts'
import type { Call } from './call.ts'

export async function showConfig({ sources }: Call): Promise<undefined> {
  const rows = describeConfig(readSettings(sources), sources)
  const nameWidth = Math.max(...rows.map(({ name }) => name.length))
  const valueWidth = Math.min(40, Math.max(...rows.map(({ value }) => value.length)))
  const sourceWidth = Math.max(...rows.map(({ source }) => source.length))
  for (const [index, { name, value, source, meaning }] of rows.entries()) {
    const heading = settingGroups[name]
    if (heading) process.stdout.write(`${index > 0 ? '\n' : ''}${heading}\n`)
    process.stdout.write(
      `${name.padEnd(nameWidth)}  ${value.padEnd(valueWidth)}  ${source.padEnd(sourceWidth)}  ${meaning}\n`,
    )
  }
}
