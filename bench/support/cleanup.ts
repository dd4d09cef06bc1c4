const cleanups: (() => Promise<void> | void)[] = []

/** To be done when the bench is over, in whatever way; the last first. */
export function atEnd(work: () => Promise<void> | void): void {
  cleanups.push(work)
}

export async function cleanUp(): Promise<void> {
  for (const work of cleanups.splice(0).reverse()) await work()
}
