/** Allows every sender address, and signs nothing. */
export const anySender = {
  loadForCheck: () => undefined,
  checkLoaded: () => {},
  allows: () => true,
  signs: () => false,
}
