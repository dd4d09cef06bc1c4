import { createRequire } from 'node:module'
import { Worker } from 'node:worker_threads'
import { Tokenizer, TypeGuards } from 'liquidjs'
import { Refusal } from '../errors.ts'
import { engineFor } from './engine.ts'
import { isProblems, lineAndColumn, messageOf, type Problem, parsePart } from './parse.ts'

const compileMsMax = 10_000
const compileMemoryMb = 256
const compilesMax = 2
const compiledLengthMax = 1_000_000

type Outcome = { html: string; errors: { line: number; tagName: string; message: string }[] } | { fault: string }

/**
 * Compiles MJML, with Liquid in it, to HTML with the same Liquid in it, or tells what is wrong with it. MJML knows
 * nothing of Liquid: a `<` within a tag starts an element for it, and a tag between two components is dropped without
 * a word. So words stand in for the tags while it works, and each must be found again.
 */
export async function compileMjml(source: string): Promise<string | Problem[]> {
  const problems = findIncludes(source)
  if (problems.length > 0) return problems
  const word = unusedWord(source)
  const tags = tagsOf(source)
  const outcome = await runInWorker(withWords(source, tags, word))
  if ('fault' in outcome) return [wholeProblem(messageOf(new Error(outcome.fault)))]

  const errors = outcome.errors.filter(({ message }) => !message.includes(word))
  problems.push(...errors.map((error) => problemOf(source, error)), ...findLost(source, tags, outcome.html, word))
  if (problems.length > 0) return problems
  const html = outcome.html.replace(new RegExp(`${word}(\\d+)x`, 'g'), (_, index) => tags[Number(index)]!.getText())
  if (html.length > compiledLengthMax) return [wholeProblem(`It compiles to more than ${compiledLengthMax / 1000} KB.`)]
  const [fault] = asProblems(parsePart(engineFor('html'), 'html', html))
  return fault ? [wholeProblem(`MJML moves the tags of the template apart: ${fault.message}`)] : html
}

const wholeProblem = (message: string): Problem => ({ part: 'html', line: 1, column: 1, message })

const asProblems = (parsed: readonly object[]) => (isProblems(parsed) ? parsed : [])

function findIncludes(source: string): Problem[] {
  return [...source.matchAll(/<mj-include\b/gi)].map(({ index }) => ({
    part: 'html',
    ...lineAndColumn(source, index),
    message: 'mj-include is not available: a template stands alone.',
  }))
}

function unusedWord(source: string): string {
  let word = 'liquidtag'
  while (source.includes(word)) word += 'q'
  return word
}

function tagsOf(source: string) {
  const { options } = engineFor('html')
  return new Tokenizer(source, options.operators).readTopLevelTokens(options).filter(TypeGuards.isDelimitedToken)
}

type Tags = ReturnType<typeof tagsOf>

/** Line breaks within a tag follow its word, so that MJML counts the same lines. */
function withWords(source: string, tags: Tags, word: string): string {
  let text = ''
  let end = 0
  for (const [index, tag] of tags.entries()) {
    text += `${source.slice(end, tag.begin)}${word}${index}x${tag.getText().replace(/[^\n]/g, '')}`
    end = tag.end
  }
  return text + source.slice(end)
}

function problemOf(
  source: string,
  { line, tagName, message }: { line: number; tagName: string; message: string },
): Problem {
  const column = (source.split('\n')[line - 1] ?? '').indexOf(`<${tagName}`) + 1
  return { part: 'html', line, column: column || 1, message: `${tagName}: ${message}.` }
}

/** A value in the head may be a default that nothing uses; whatever else is lost would be missed. */
function findLost(source: string, tags: Tags, html: string, word: string): Problem[] {
  const found = new Set([...html.matchAll(new RegExp(`${word}(\\d+)x`, 'g'))].map(([, index]) => Number(index)))
  const body = source.indexOf('<mj-body')
  const lost = tags.filter((tag, index) => !found.has(index) && (TypeGuards.isTagToken(tag) || tag.begin > body))
  return lost.map((tag) => ({
    part: 'html',
    ...lineAndColumn(source, tag.begin),
    message: `MJML has no place for ${tag.getText().slice(0, 60)} here. Put it into <mj-raw>, or into the text of a component.`,
  }))
}

// A string, because a file would be named .ts in the sources and .js once it is built.
const program = `
  const { parentPort, workerData } = require('node:worker_threads')
  const mjml = require(workerData.module)
  mjml(workerData.source, { validationLevel: 'soft', ignoreIncludes: true })
    .then(({ html, errors }) => ({ html, errors: errors.map(({ line, tagName, message }) => ({ line, tagName, message })) }))
    .catch((error) => ({ fault: String(error.message) }))
    .then((outcome) => parentPort.postMessage(outcome))`

let running = 0

/**
 * In a thread of its own, which takes 0.7 s and gives back the 55 MB that MJML takes, and which can be ended: nothing
 * bounds the time that MJML may need.
 */
async function runInWorker(source: string): Promise<Outcome> {
  if (running >= compilesMax)
    throw new Refusal('unavailable', 'Other MJML templates are being compiled. Try again in a moment.', {
      retryAfterSeconds: 2,
    })
  running++
  const worker = new Worker(program, {
    eval: true,
    workerData: { source, module: createRequire(import.meta.url).resolve('mjml') },
    resourceLimits: { maxOldGenerationSizeMb: compileMemoryMb },
  })
  let timer: NodeJS.Timeout | undefined
  try {
    return await new Promise<Outcome>((resolve) => {
      timer = setTimeout(
        () => resolve({ fault: `It takes longer than ${compileMsMax / 1000} s to compile` }),
        compileMsMax,
      )
      worker.once('message', resolve)
      worker.once('error', (error) => resolve({ fault: `MJML cannot compile it: ${error.message}` }))
    })
  } finally {
    clearTimeout(timer)
    running--
    await worker.terminate()
  }
}
