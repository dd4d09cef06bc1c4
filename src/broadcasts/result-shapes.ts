import { Type } from 'typebox'
import { Named, Nullable, oneOf } from '../platform/http/envelope.ts'
import { outOf } from '../platform/http/out-of.ts'
import type { Broadcast } from './broadcasts.sql.ts'
import type { Reactions } from './results/reactions.ts'
import type { Counted } from './results/results.ts'
import { waitCauses } from './sending/waiting.ts'
import { BroadcastOut, broadcastOut } from './shapes.ts'
import { ChanceOut, VariantsWithResultsOut } from './variant-shapes.ts'

const countedAt = Nullable(
  Type.String({
    format: 'date-time',
    description: 'When the results were counted. Null before the start, and while they are counted for the first time.',
  }),
)

const MainResultsOut = Named(
  'MainBroadcastResults',
  { opened: Type.Integer(), clicked: Type.Integer(), unsubscribed: Type.Integer(), complained: Type.Integer() },
  { description: 'Recipients that reacted, each counted once, without automated opens and clicks.' },
)

export const BroadcastInListOut = Named('BroadcastInList', {
  ...BroadcastOut.properties,
  results: Nullable(MainResultsOut),
  results_counted_at: countedAt,
})

const WaitOut = Named('BroadcastWait', {
  cause: {
    ...oneOf(...waitCauses),
    description:
      '`paused`: the operator has paused all sending. `daily_limit`, `limit`: of a mail server, a warm-up plan or a mailbox provider. `deferred`: the mail server has asked to try again later.',
  },
  recipients: Nullable(
    Type.Integer({ description: 'How many recipients are tried again. Null: all that are left wait.' }),
  ),
  detail: Nullable(
    Type.String({
      description:
        'The reply or problem of the mail server, or the name or value of the limit. Problems of the mail server of the installation are shown to its operators only.',
    }),
  ),
  until: Nullable(
    Type.String({ format: 'date-time', description: 'When it ends or is tried again. Null if that is not known.' }),
  ),
})
export const waitOut = outOf(WaitOut, {})

export const BroadcastWithResultsOut = Named('BroadcastWithResults', {
  ...BroadcastOut.properties,
  waiting: Type.Array(WaitOut, { description: 'Why it, or some of its emails, are not sent at this moment.' }),
  variants: VariantsWithResultsOut,
  results: Named(
    'BroadcastResults',
    {
      opened: Type.Integer(),
      clicked: Type.Integer(),
      unsubscribed: Type.Integer(),
      complained: Type.Integer(),
      hard_bounced: Type.Integer(),
      soft_bounced: Type.Integer(),
      not_opened: Type.Integer({ description: 'Delivered, and neither opened nor clicked.' }),
    },
    { description: 'Recipients that reacted, each counted once, without automated opens and clicks.' },
  ),
  results_counted_at: countedAt,
  links_complete: Type.Boolean({
    description:
      'False if events of the broadcast were deleted (`EVENT_RETENTION_MONTHS`). Its links then have the clicks that were counted before.',
  }),
  results_outdated: Type.Boolean({
    description:
      'Whether the results are older than two minutes, or have not been counted yet. They are being counted.',
  }),
  chance: ChanceOut,
})

const outdatedMs = 120_000

/** By the clock of the database, because that of a client may be wrong. */
export const areOutdated = ({ startedAt, now }: Broadcast, { countedAt }: Counted): boolean =>
  startedAt !== null && (countedAt === null || +now - +countedAt > outdatedMs)

const totalsOut = outOf(BroadcastWithResultsOut.properties.results, {})

export const resultsOut = ({ counts }: Broadcast, { totals }: Reactions) =>
  totalsOut({ ...totals, notOpened: Math.max(0, (counts.sent ?? 0) - totals.engaged) })

const mainResultsOut = outOf(MainResultsOut, {})

export const listedOut = (broadcast: Broadcast, { reactions, countedAt }: Counted) => ({
  ...broadcastOut(broadcast),
  results: countedAt && mainResultsOut(reactions.totals),
  results_counted_at: countedAt?.toISOString() ?? null,
})
