import { describeConfig, readConfig, readEnvironment } from '../config.ts'

export async function showConfig(): Promise<undefined> {
  const environment = readEnvironment()
  const rows = describeConfig(readConfig(environment), environment)
  const nameWidth = Math.max(...rows.map(({ name }) => name.length))
  const valueWidth = Math.min(40, Math.max(...rows.map(({ value }) => value.length)))
  for (const { name, value, source, meaning } of rows)
    process.stdout.write(`${name.padEnd(nameWidth)}  ${value.padEnd(valueWidth)}  ${source.padEnd(11)}  ${meaning}\n`)
}
