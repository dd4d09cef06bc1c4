/** What `waxwing doctor` found. A note is not a problem yet, but may become one. */
export type Finding = { what: string; ok: boolean; says: string; note?: boolean }
