/** What `waxwing doctor` found. A note is not a problem yet, but may become one. */
export type Finding = { check: string; ok: boolean; message: string; note?: boolean }

export const good = (check: string, message: string): Finding => ({ check, ok: true, message })
export const note = (check: string, message: string): Finding => ({ check, ok: true, message, note: true })
export const bad = (check: string, message: string): Finding => ({ check, ok: false, message })
