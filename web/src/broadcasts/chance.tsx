import { Text } from '@mantine/core'
import type { BroadcastDetail } from '../api/types.ts'

/** A difference that chance explains so rarely is usually called significant. */
const rareMax = 0.05

/** Whether the difference between the variants is more than chance, in plain words. */
export function Chance({ broadcast: { chance, variants } }: { broadcast: BroadcastDetail }) {
  if (chance === null) return null
  const all = variants.length === 2 ? 'both' : 'all variants'
  return (
    <Text component="ul" size="sm" mt="sm" pl="md">
      <li>
        <strong>Opened:</strong> {sentence(chance.opened, all)}
      </li>
      <li>
        <strong>Clicked:</strong> {sentence(chance.clicked, all)}
      </li>
    </Text>
  )
}

function sentence(chance: number | null, all: string): string {
  if (chance === null) return 'too few people to tell whether the difference is more than chance.'
  const verdict =
    chance <= rareMax ? 'the difference is probably more than chance.' : 'the difference may well be chance.'
  return `${verdict} If ${all} were equally good, a difference this large would appear by chance in ${testsOf(chance)}.`
}

/** As a number of 100 tests, or of 1,000 if it is rare. */
function testsOf(chance: number): string {
  if (chance < 0.001) return 'fewer than 1 of 1,000 tests'
  if (chance < 0.01) return `${Math.round(chance * 1_000)} of 1,000 tests`
  return `${Math.min(99, Math.round(chance * 100))} of 100 tests`
}
