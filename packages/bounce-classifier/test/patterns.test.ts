import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const folder = fileURLToPath(new URL('../src', import.meta.url))

// A literal follows a blank or an opening bracket. Classes may contain slashes.
const literal = /(?<=[\s([!])\/(?![/*])(?:\\.|\[(?:\\.|[^\]\n])*\]|[^/\n\\[])+\/[dgimsuvy]*/g
const comment = /^\s*(?:\/\/|\*|\/\*\*).*$/gm

async function patternsInSource(): Promise<string[]> {
  const names = await readdir(folder)
  const sources = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))
  return sources.flatMap((source) => source.replace(comment, '').match(literal) ?? [])
}

/** Returns true if a repeated group contains a repetition, such as `(a+)*`. An optional group, `(…)?`, is not repeated. */
function hasNestedQuantifier(pattern: string): boolean {
  // An escaped character and a class stand for one character each.
  const plain = pattern.replace(/\\./g, 'x').replace(/\[[^\]]*\]/g, 'x')
  const groups: { repeats: boolean }[] = [{ repeats: false }]
  for (let at = 0; at < plain.length; at += 1) {
    const repeatsNext = /^(?:[*+]|\{\d+(?:,\d*)?\})/.test(plain.slice(at + 1))
    if (plain[at] === '(') groups.push({ repeats: false })
    else if (plain[at] === ')') {
      const inner = groups.pop()!
      if (inner.repeats && repeatsNext) return true
      groups.at(-1)!.repeats ||= inner.repeats || repeatsNext
    } else if (repeatsNext) groups.at(-1)!.repeats = true
  }
  return false
}

test('nested quantifiers are detected', () => {
  const nested = ['/(a+)*/', '/(?:x[*]{2}y)+/', '/((a|b*)c){2,}/']
  expect(nested.filter(hasNestedQuantifier)).toEqual(nested)
  expect(['/(a+)?/', '/(ab)+c*/', '/[a(b+)*]+/', '/\\(a+\\)*/'].filter(hasNestedQuantifier)).toEqual([])
})

test('no regular expression of the classifier has nested quantifiers', async () => {
  const patterns = await patternsInSource()
  expect(patterns.length).toBeGreaterThan(100)
  expect(patterns).toContain('/^[245]\\.0\\.0$/')
  expect(patterns.filter(hasNestedQuantifier)).toEqual([])
})
