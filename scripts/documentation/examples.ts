import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../../src/platform/config/package-root.ts'
import {
  type ApiDocument,
  type Example,
  type Examples,
  type Operation,
  operationsOf,
  type ResponseEntry,
  typedValue,
} from '../../src/platform/http/types.ts'
import { codeSamples } from './code-samples.ts'

const folder = join(packageRoot, 'docs', 'reference', 'examples')

/** Returns the recorded examples of all operations, which test/reference.test.ts writes. */
export function readExamples(): Examples {
  const files = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'))
  return Object.assign({}, ...files.map((text) => JSON.parse(text)))
}

/** Adds examples and code samples to a complete document. */
export function addExamples(document: ApiDocument, examples: Examples): void {
  const baseUrl = document.servers[0]!.url
  for (const { method, operation } of operationsOf(document)) {
    const recorded = examples[operation.operationId] ?? []
    const [first] = recorded
    if (!first) continue
    for (const [status, response] of Object.entries(operation.responses))
      addResponseExamples(
        response,
        recorded.filter((example) => String(example.response.status) === status),
      )
    addRequestExamples(operation, recorded)
    operation['x-codeSamples'] = codeSamples(method, operation, first, baseUrl)
  }
  addEventExamples(document, examples)
}

/** The examples of webhook events are those of `GET /event-types`. */
function addEventExamples(document: ApiDocument, { listEventTypes }: Examples): void {
  const { data } = listEventTypes![0]!.response.body as { data: { event_name: string; example: unknown }[] }
  for (const { event_name: name, example } of data) {
    const webhook = document.webhooks?.[name]
    if (webhook) webhook.post.requestBody.content['application/json'].example = example
  }
}

function addResponseExamples(response: ResponseEntry, recorded: readonly Example[]): void {
  const [media] = Object.values(response.content ?? {})
  const [first] = recorded
  if (!media || !first) return
  if (recorded.length === 1) media.example = first.response.body
  else media.examples = titled(recorded, ({ response: { body } }) => body)
}

function addRequestExamples(operation: Operation, recorded: readonly Example[]): void {
  const [first] = recorded
  const [media] = Object.values(operation.requestBody?.content ?? {})
  const accepted = recorded.filter(({ response: { status } }) => status < 300)
  if (media && first) {
    if (accepted.length <= 1) media.example = first.request.text ?? first.request.body
    else media.examples = titled(accepted, ({ request }) => request.text ?? request.body)
  }
  for (const parameter of operation.parameters ?? []) {
    const value =
      first?.request.params?.[parameter.name] ??
      first?.request.query?.[parameter.name] ??
      first?.request.headers?.[parameter.name]
    if (value !== undefined) parameter.example = typedValue(parameter, value)
  }
}

const titled = (recorded: readonly Example[], pick: (example: Example) => unknown) =>
  Object.fromEntries(
    recorded.map((example) => [
      example.title.toLowerCase().replace(/[^a-z0-9]+/g, '-'),
      { summary: example.title, value: pick(example) },
    ]),
  )
