/** Allows every sender address, and signs nothing. */
export const anySender = {
  loadForCheck: () => undefined,
  checkLoaded: () => {},
  provides: () => true,
  allows: () => true,
  signs: () => false,
}
