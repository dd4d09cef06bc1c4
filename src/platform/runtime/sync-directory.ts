import { open } from 'node:fs/promises'

/** Makes new and renamed entries of a directory durable: fsync of a file does not include its name. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r')
  await directory.sync().finally(() => directory.close())
}
