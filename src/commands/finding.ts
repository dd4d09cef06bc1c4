/** What `waxwing doctor` found. A note is not a problem yet, but may become one. */
export type Finding = { check: string; ok: boolean; message: string; note?: boolean }
