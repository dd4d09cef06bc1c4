import { expect, test } from 'vitest'
import { applyMutation, listMutations, shuffle, weaveMutations } from '../scripts/mutations.ts'

const kind = '${' + 'kind}'
const source = `
export async function claim(tx: Tx, limit: number) {
  if (limit > max) throw new RangeError('too many')
  await lock(tx)
  log.info('claimed')
  return tx\`
    update lanes set token = null
    where lanes.kind = ${kind} and not held and (a between 1 and 2 or b is null)
    order by id\`
}
`

test('lists guards, comparisons, calls and conditions of statements', () => {
  const mutations = listMutations('claim.ts', source)
  expect(mutations.map(({ kind, line, summary }) => [kind, line, summary.replace(/ in: .*/, '')])).toEqual([
    ['guard', 3, 'limit > max -> false'],
    ['comparison', 3, 'limit > max -> limit >= max'],
    ['call', 4, 'await lock(tx) -> void 0'],
    ['sql condition', 6, `lanes.kind = ${kind} -> true`],
    ['sql condition', 6, 'not held -> true'],
    ['sql condition', 6, '(a between 1 and 2 or b is null) -> true'],
    ['sql condition', 6, 'b is null -> false'],
  ])
  expect(applyMutation(source, mutations[4]!)).toContain(`where lanes.kind = ${kind} and true and (a between`)
  expect(new Set(mutations.map(({ id }) => id)).size).toBe(mutations.length)
})

test('a seed gives the same order, and the ids do not depend on other lines', () => {
  const mutations = listMutations('claim.ts', source)
  const ids = (seed: number) => shuffle(mutations, seed).map(({ id }) => id)
  expect(ids(1)).toEqual(ids(1))
  expect(ids(1)).not.toEqual(ids(2))
  expect(ids(1).toSorted()).toEqual(ids(2).toSorted())
  expect(listMutations('claim.ts', `const other = 1\n${source}`).map(({ id }) => id)).toEqual(
    mutations.map(({ id }) => id),
  )
})

test('weaves all mutations into the source, of which one takes effect', () => {
  const text = 'const grade = (n: number, isLate: boolean) => (n > 5 && !isLate ? "good" : "poor")\n'
  const mutations = listMutations('grade.ts', text)
  const woven = weaveMutations(text, mutations, 'isMutated').replaceAll(/: (?:number|boolean)\b/g, '')
  const grades = (active: string | undefined) => {
    const grade = new Function('isMutated', `${woven}; return grade`)((id: string) => id === active)
    return [grade(5, false), grade(6, false), grade(6, true)].join(' ')
  }
  expect(grades(undefined)).toBe('poor good poor')
  expect(Object.fromEntries(mutations.map(({ id, summary }) => [summary, grades(id)]))).toEqual({
    'n > 5 && !isLate -> true': 'good good good',
    'n > 5 && !isLate -> false': 'poor poor poor',
    'n > 5 -> true': 'good good poor',
    '!isLate -> true': 'poor good good',
    'n > 5 -> n >= 5': 'good good poor',
  })
})
