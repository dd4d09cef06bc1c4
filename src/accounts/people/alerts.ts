/** Kinds of emails that a user can switch off in the profile. */
const alertKinds = ['sending', 'deliverability', 'webhooks', 'imports'] as const
export type AlertKind = (typeof alertKinds)[number]

export type AlertSwitches = Record<AlertKind, boolean>

export const alertsOf = ({ mutedAlerts }: { mutedAlerts: string[] }): AlertSwitches =>
  Object.fromEntries(alertKinds.map((kind) => [kind, !mutedAlerts.includes(kind)])) as AlertSwitches

/** Applies the given switches; the others keep their state. */
export function mutedAfter(muted: string[], switches: Partial<AlertSwitches>): AlertKind[] {
  return alertKinds.filter((kind) => !(switches[kind] ?? !muted.includes(kind)))
}
