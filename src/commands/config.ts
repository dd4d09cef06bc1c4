import { describeConfig, readConfig, readEnvironment, readSources } from '../config/config.ts'

export async function showConfig(): Promise<undefined> {
  const rows = describeConfig(readConfig(readEnvironment()), readSources())
  const nameWidth = Math.max(...rows.map(({ name }) => name.length))
  const valueWidth = Math.min(40, Math.max(...rows.map(({ value }) => value.length)))
  for (const { name, value, source, meaning } of rows)
    process.stdout.write(`${name.padEnd(nameWidth)}  ${value.padEnd(valueWidth)}  ${source.padEnd(11)}  ${meaning}\n`)
}
