import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { classifyBounce } from '../src/classify-bounce.ts'
import { phraseRules } from '../src/phrases.ts'
import { observeRules, type RuleEntry } from '../src/rule-usage.ts'

/** A mail with the verdicts that it should get. An empty list means that the mail is not a bounce. */
export type LabelledMail = { name: string; raw: Uint8Array | string; expected: ExpectedVerdict[] }
export type ExpectedVerdict = { recipient: string | null; kind: string }

export type Score = {
  verdicts: number
  right: number
  /** Expected hard verdicts. */
  hard: number
  /** Expected hard, judged otherwise. */
  missedHard: number
  /** Judged hard, expected otherwise. */
  wronglyHard: number
  /** Counts by expected kind, then by the kind that was found; `missing` where the recipient has no verdict. */
  confusion: Record<string, Record<string, number>>
  wrong: { name: string; recipient: string | null; expected: string; found: string }[]
}

/**
 * Reads a folder with `expected.json` (verdicts by file name) and the mails in `emails/`. A recipient in the reserved domain
 * `.invalid` (RFC 2606) is a placeholder for a recipient that the report does not name.
 */
export async function readLabelledMails(folder: string): Promise<LabelledMail[]> {
  const verdicts: Record<string, ExpectedVerdict[]> = JSON.parse(await readFile(join(folder, 'expected.json'), 'utf8'))
  return Promise.all(
    Object.entries(verdicts).map(async ([name, expected]) => ({
      name,
      raw: await readFile(join(folder, 'emails', name)),
      expected: expected.map(({ recipient, kind }) => ({
        recipient: recipient?.endsWith('.invalid') ? null : recipient,
        kind,
      })),
    })),
  )
}

/**
 * Classifies every mail and compares the verdicts. A verdict counts only for the recipient that it names; where the expected
 * verdict has no recipient, the first one counts. If a mail has one verdict, the recipient may differ as described at
 * `differsByAnonymizing`. Entries of the rule tables in `disabled` are not used.
 */
export async function evaluate(
  mails: readonly LabelledMail[],
  disabled: ReadonlySet<RuleEntry> = new Set(),
): Promise<Score> {
  const score: Score = { verdicts: 0, right: 0, hard: 0, missedHard: 0, wronglyHard: 0, confusion: {}, wrong: [] }
  for (const { name, raw, expected } of mails) {
    const { results } = await observeRules({ disabled }, () => classifyBounce(raw))
    const bounces = results.filter(({ kind }) => kind !== 'none')
    if (expected.length === 0) count(score, name, null, 'none', bounces[0]?.kind ?? 'none')
    const isSingle = expected.length === 1 && results.length === 1
    const isFor = (recipient: string | null, found: string | null) =>
      recipient === null || recipient === found || (isSingle && differsByAnonymizing(recipient, found ?? ''))
    for (const { recipient, kind } of expected) {
      const found = results.find((result) => isFor(recipient, result.recipient))
      count(score, name, recipient, kind, found?.kind ?? 'missing')
    }
    // A hard verdict for an address that the report is not about would suppress that address.
    if (expected.length > 0) {
      score.wronglyHard += results.filter(
        (result) => result.kind === 'hard' && !expected.some(({ recipient }) => isFor(recipient, result.recipient)),
      ).length
    }
  }
  return score
}

const anonymizedCharsMax = 5
const commonCharsMin = 20

/**
 * Returns true if two addresses are long and differ in one run of a few characters: in some mails, names were replaced in one
 * place and not in another, so that the expected recipient is not the one in the report.
 */
function differsByAnonymizing(expected: string, found: string): boolean {
  const length = Math.min(expected.length, found.length)
  let start = 0
  while (start < length && expected[start] === found[start]) start += 1
  let end = 0
  while (end < length - start && expected.at(-1 - end) === found.at(-1 - end)) end += 1
  const changed = Math.max(expected.length, found.length) - start - end
  return changed <= anonymizedCharsMax && start + end >= commonCharsMin
}

/** A mail with the entries of the rule tables that match it. */
export type RuleMatches = { mail: LabelledMail; entries: ReadonlySet<RuleEntry> }

/** Records which entries of the rule tables match each mail, whether or not they decide its verdict. */
export async function findRuleMatches(mails: readonly LabelledMail[]): Promise<RuleMatches[]> {
  const found: RuleMatches[] = []
  for (const mail of mails) {
    const matched = new Set<RuleEntry>()
    await observeRules({ matched }, () => classifyBounce(mail.raw))
    found.push({ mail, entries: matched })
  }
  return found
}

/** Phrases that public documentation or source code lists: they need no mail to be known. */
export const documentedEntries: ReadonlySet<RuleEntry> = new Set(
  phraseRules.filter(({ source }) => source !== undefined).flatMap(({ phrases }) => phrases),
)

/**
 * The entries that match mails of `heldOut` and no other mail: they could not have been learned from the other mails. Entries
 * that match no mail at all are not part of the result.
 */
export function entriesOnlyIn(heldOut: readonly LabelledMail[], matches: readonly RuleMatches[]): Set<RuleEntry> {
  const held = new Set(heldOut)
  const learnable = new Set<RuleEntry>()
  for (const { mail, entries } of matches) if (!held.has(mail)) for (const entry of entries) learnable.add(entry)
  const only = new Set<RuleEntry>()
  for (const { mail, entries } of matches) {
    if (held.has(mail)) for (const entry of entries) if (!learnable.has(entry)) only.add(entry)
  }
  return only
}

function count(score: Score, name: string, recipient: string | null, expected: string, found: string): void {
  score.verdicts += 1
  score.confusion[expected] ??= {}
  score.confusion[expected][found] = (score.confusion[expected][found] ?? 0) + 1
  if (expected === 'hard') score.hard += 1
  if (expected === found) {
    score.right += 1
    return
  }
  if (expected === 'hard') score.missedHard += 1
  if (found === 'hard') score.wronglyHard += 1
  score.wrong.push({ name, recipient, expected, found })
}

/**
 * Splits mails into two halves of about the same size such that the mails of one family are all in the same half. The
 * family is the file name up to its number, which names the software that sent the mail.
 */
export function splitByFamily(mails: readonly LabelledMail[], seed: number): [LabelledMail[], LabelledMail[]] {
  const families = groupByFamily(mails)
  const random = randomNumbers(seed)
  const shuffled = [...families.values()]
    .map((family) => ({ family, order: random() }))
    .sort((a, b) => a.order - b.order)
  const halves: [LabelledMail[], LabelledMail[]] = [[], []]
  for (const { family } of shuffled) halves[halves[0].length <= halves[1].length ? 0 : 1].push(...family)
  return halves
}

function groupByFamily(mails: readonly LabelledMail[]): Map<string, LabelledMail[]> {
  const families = new Map<string, LabelledMail[]>()
  for (const mail of mails) {
    const family = mail.name.replace(/-\d+.*$/, '')
    families.set(family, [...(families.get(family) ?? []), mail])
  }
  return families
}

/** Mulberry32: small, seedable and good enough to shuffle. */
function randomNumbers(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let value = Math.imul(state ^ (state >>> 15), state | 1)
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61)
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32
  }
}
