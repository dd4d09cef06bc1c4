import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { documentOf } from '../../src/operations/documentation/api-document.ts'
import type { Service } from '../../src/service.ts'

type Response = { $ref?: string; content?: Record<string, { schema?: object }> }
type Parameter = { name: string; in: string }
type Body = { content: Record<string, { schema?: { $ref?: string; properties?: object } }> }
type Operation = {
  responses: Record<string, Response>
  parameters?: Parameter[]
  requestBody?: Body
  operationId: string
  'x-permission': string
  'x-installation-permission'?: string
}
type Document = { paths: Record<string, Record<string, Operation>>; components: object }

export type DocumentedOperation = {
  method: string
  path: string
  query: string[]
  fields: string[]
  id: string
  /** What a person needs to call it. */
  permission: string
  /** Whether it needs another permission for what belongs to the installation. */
  ofInstallation: boolean
}

/** Values of the query parameters that some operations require. */
const samples: Record<string, string> = {
  start_date: '2026-01-01',
  end_date: '2026-12-31',
  link: 'https://shop.example/',
  figure: 'opened',
  event_name: 'emailOpen',
  query: 'ada',
}

/** Returns a query of an operation with the parameters in `names` that it has. */
export function sampleQuery(query: readonly string[], names: readonly string[]): string {
  const used = names.filter((name) => query.includes(name))
  return new URLSearchParams(Object.fromEntries(used.map((name) => [name, samples[name]!]))).toString()
}

/** Throws if a response does not match the OpenAPI document. Every call of every test is checked. */
export class OpenApiCheck {
  readonly #document: Document
  readonly #paths: { template: string; pattern: RegExp }[]
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false })
  readonly #validators = new Map<string, ValidateFunction>()

  static async of(app: Service): Promise<OpenApiCheck> {
    return new OpenApiCheck((await documentOf(app.server)) as unknown as Document)
  }

  constructor(document: Document) {
    this.#document = document
    this.#ajv.addSchema(this.#document, 'openapi')
    this.#paths = Object.keys(this.#document.paths)
      // Literal paths before those with parameters, like the router.
      .sort((a, b) => a.split('{').length - b.split('{').length)
      .map((template) => ({
        template,
        pattern: new RegExp(`^${template.replace(/[.]/g, '\\.').replace(/\{[^}]+\}/g, '[^/]+')}/?$`),
      }))
  }

  /** All operations of the document, with the names of their query parameters and of the fields of their bodies. */
  operations(): DocumentedOperation[] {
    return Object.entries(this.#document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { parameters = [], requestBody, ...operation }]) => ({
        id: operation.operationId,
        method: method.toUpperCase(),
        path,
        query: parameters.flatMap((parameter) => (parameter.in === 'query' ? [parameter.name] : [])),
        fields: this.#fieldsOf(requestBody),
        permission: operation['x-permission'],
        ofInstallation: 'x-installation-permission' in operation,
      })),
    )
  }

  #fieldsOf(body: Body | undefined): string[] {
    const schema = body?.content['application/json']?.schema
    const name = schema?.$ref?.split('/').at(-1)
    const { schemas = {} } = this.#document.components as { schemas?: Record<string, { properties?: object }> }
    return Object.keys((name === undefined ? schema : schemas[name])?.properties ?? {})
  }

  check(method: string, url: string, status: number, body: unknown): void {
    const path = new URL(url).pathname
    const template = this.#paths.find(({ pattern }) => pattern.test(path))?.template
    const operation = template && this.#document.paths[template]![method.toLowerCase()]
    // Unknown paths and methods have no operation; their responses are errors.
    const where = operation ? pointer(template, method, status, operation) : '#/components/schemas/Error'
    if (where === undefined) throw new Error(`${method} ${template} responded with ${status}, which is not documented.`)
    const validate = this.#validator(where)
    if (!validate(body))
      throw new Error(
        `${method} ${path} answered ${status}: ${this.#ajv.errorsText(validate.errors)}\n${JSON.stringify(body)}`,
      )
  }

  #validator(where: string): ValidateFunction {
    let validate = this.#validators.get(where)
    if (!validate) {
      validate = this.#ajv.compile({ $ref: `openapi${where}` })
      this.#validators.set(where, validate)
    }
    return validate
  }
}

function pointer(template: string, method: string, status: number, { responses }: Operation): string | undefined {
  const key = [String(status), `${String(status)[0]}XX`, `${String(status)[0]}xx`, 'default'].find(
    (name) => responses[name],
  )
  const shared = key && responses[key]!.$ref
  if (shared) return `${shared}/content/application~1json/schema`
  const content = key && Object.keys(responses[key]!.content ?? {}).find((type) => type.includes('json'))
  if (!content) return undefined
  const escaped = (part: string) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))
  return `#/paths/${escaped(template)}/${method.toLowerCase()}/responses/${key}/content/${escaped(content)}/schema`
}
