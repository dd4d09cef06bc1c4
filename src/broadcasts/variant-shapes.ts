import { Type } from 'typebox'
import { Named, Nullable, oneOf } from '../platform/http/envelope.ts'
import { type Broadcast, winnerRules } from './broadcasts.sql.ts'
import { chanceOf } from './results/chance.ts'
import type { VariantReactions } from './results/reactions.ts'
import { variantKeyOf, variantKeys, variantsMax } from './variants.ts'

export const subjectMax = 2_000

const VariantIn = Named('Variant', {
  subject: Type.Optional(
    Nullable(Type.String({ maxLength: subjectMax, description: 'Replaces the subject of the flow.' })),
  ),
  flow_version: Type.Optional(
    Nullable(Type.Integer({ minimum: 1, description: 'A published version of the flow, instead of a subject.' })),
  ),
  share: Type.Integer({ minimum: 1, maximum: 99, description: 'The percentage of the sample.' }),
})
export const VariantKeyOut = Type.Unsafe<(typeof variantKeys)[number]>({
  ...oneOf(...variantKeys),
  description: 'The variants are named in their order.',
})
const variantFields = {
  key: VariantKeyOut,
  subject: Nullable(Type.String()),
  flow_version: Nullable(Type.Integer()),
  share: Type.Integer(),
}
export const testFields = {
  test_percent: Type.Integer({
    minimum: 1,
    maximum: 100,
    description:
      'The percentage of the recipients that get the variants. The others get the winner. With 100, all get a variant and there is no winner.',
  }),
  winner_by: Type.Unsafe<(typeof winnerRules)[number]>({
    ...oneOf(...winnerRules),
    description:
      'The variant with the highest rate of opens or clicks by people wins, or a user chooses it. In case of a tie, the first.',
  }),
  decide_after_seconds: Type.Integer({
    minimum: 60,
    maximum: 14 * 86_400,
    description: 'How long after the last email of the sample the winner is chosen. Four hours by default.',
  }),
}

export const VariantsIn = Type.Array(VariantIn, {
  maxItems: variantsMax,
  description: `Two to ${variantsMax} variants, or none. Each has a subject or a version of the flow; with neither, it is the flow as it is. Their shares add up to 100.`,
})
export const VariantsOut = Type.Array(Named('Variant', variantFields))
export const VariantsWithResultsOut = Type.Array(
  Named('VariantWithResults', {
    ...variantFields,
    recipients: Type.Integer({ description: 'Recipients in the sample. The others are not counted here.' }),
    sent: Type.Integer(),
    bounced: Type.Integer(),
    opened: Type.Integer(),
    clicked: Type.Integer(),
    unsubscribed: Type.Integer(),
    complained: Type.Integer(),
    winner: Type.Boolean(),
  }),
)

const Chance = Nullable(Type.Number({ minimum: 0, maximum: 1 }))
export const ChanceOut = Nullable(
  Named(
    'VariantChance',
    { opened: Chance, clicked: Chance },
    {
      description:
        'How often differences as large as those between the variants would appear by chance if all were equally good: 0.03 is in 3 of 100 tests. From a chi-squared test of the rates of all variants together; null if the numbers are too small to tell. The whole is null without variants.',
    },
  ),
)

export const chanceOut = (variants: readonly VariantReactions[]) => {
  if (variants.length === 0) return null
  const chance = (reaction: 'opened' | 'clicked') =>
    chanceOf(variants.map((variant) => ({ sent: variant.sent, reacted: variant[reaction] })))
  return { opened: chance('opened'), clicked: chance('clicked') }
}

export const variantsOut = ({ variants }: Broadcast) =>
  variants.map(({ subject, flow_version, share }, position) => ({
    key: variantKeyOf(position)!,
    subject,
    flow_version,
    share,
  }))

export const variantsWithResults = (broadcast: Broadcast, results: readonly VariantReactions[]) =>
  variantsOut(broadcast).map((variant, position) => ({
    ...variant,
    ...results[position]!,
    winner: broadcast.winner === position,
  }))
