const cleanups: (() => Promise<void> | void)[] = []

/** Runs when the bench ends in any way, in reverse order. */
export function atEnd(work: () => Promise<void> | void): void {
  cleanups.push(work)
}

export async function cleanUp(): Promise<void> {
  for (const work of cleanups.splice(0).reverse()) await work()
}
