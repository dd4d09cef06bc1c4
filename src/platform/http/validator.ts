import { createHash } from 'node:crypto'
import AjvCompiler, { type BuildCompilerFromPool } from '@fastify/ajv-compiler'
import SerializerCompiler from '@fastify/fast-json-stringify-compiler'
import type { FastifySchemaCompiler } from 'fastify'

type RouteSchema = { schema: unknown; httpPart?: string }
type Validate = ((data: unknown) => unknown) & { errors?: unknown }
type Compile = (route: RouteSchema) => Validate

/** For input with more values, only the first error is reported. */
const valuesMax = 1_000
/**
 * No coercion in bodies: "5" is not a number. Formats only document what the code behind checks, with better messages. Unknown fields are ignored, not removed. With a discriminator, errors are reported
 * for the chosen alternative only. Errors have the schema of their object, which names the known fields.
 */
const options = {
  coerceTypes: false,
  removeAdditional: false,
  useDefaults: true,
  discriminator: true,
  // An address, or an array of addresses.
  allowUnionTypes: true,
  verbose: true,
  validateFormats: false,
}

/** Shared by all servers of a process, as in tests: creating a compiler takes 45 ms of CPU time. */
const compilers = AjvCompiler()

/**
 * Returns a function that compiles each schema once for all servers of a process, as in tests. `settings` is what the
 * result depends on besides the schema.
 */
function compileOnce<Compiled>() {
  const known = new Map<string, Compiled>()
  return (schema: unknown, settings: unknown, compile: () => Compiled): Compiled => {
    const key = createHash('sha256')
      .update(JSON.stringify([schema, settings]))
      .digest('base64')
    const compiled = known.get(key) ?? compile()
    known.set(key, compiled)
    return compiled
  }
}

const validators = compileOnce<Validate>()
const serializers = compileOnce<SerializerCompiler.Serializer>()

/**
 * Reports all errors of ordinary requests. The cost grows with the number of errors, even for elements beyond
 * `maxItems` (a megabyte of invalid elements took 4 seconds), so only the first error of a large request is reported.
 * Schemas are compiled when they are first used: all of them take half a second of CPU time, a single one a few milliseconds.
 */
export const buildValidator = ((externalSchemas: never) => {
  const compilerWith = (allErrors: boolean, coerceTypes: boolean) =>
    compilers(externalSchemas, { customOptions: { ...options, allErrors, coerceTypes } }) as unknown as Compile
  const compile = (allErrors: boolean, route: RouteSchema) => {
    // Query parameters are text: numbers and booleans are read from it.
    const isQuery = route.httpPart === 'querystring'
    return validators(route.schema, [allErrors, isQuery, externalSchemas], () =>
      compilerWith(allErrors, isQuery)(route),
    )
  }
  return (route: RouteSchema) => {
    let check: Validate | undefined
    let checkAll: Validate | undefined
    const validate: Validate = (data) => {
      check ??= compile(false, route)
      const valid = check(data)
      validate.errors = check.errors
      if (valid === false && !hasMoreValues(data, valuesMax)) {
        checkAll ??= compile(true, route)
        checkAll(data)
        validate.errors = checkAll.errors ?? check.errors
      }
      return valid
    }
    return validate
  }
}) as unknown as BuildCompilerFromPool

const compile = (buildValidator as unknown as (externalSchemas: object) => Compile)({})

/** The usual validators, for routes that validate their body in another way. For schemas without references. */
export const compileValidator = compile as unknown as FastifySchemaCompiler<unknown>

/** Returns a validator of one value, for routes that validate the elements of their body one by one. */
export function createCheck(schema: unknown): (data: unknown) => { errors: unknown } | undefined {
  const validate = compile({ schema, httpPart: 'body' })
  return (data) => (validate(data) === false ? { errors: validate.errors } : undefined)
}

/** Serializers that, like validators, are compiled when they are first used. */
export const buildSerializer: SerializerCompiler.SerializerFactory = (externalSchemas, options) => {
  let compile: SerializerCompiler.SerializerCompiler | undefined
  return (route) => {
    let serialize: SerializerCompiler.Serializer | undefined
    return (document) => {
      serialize ??= serializers(route.schema, [externalSchemas, options], () => {
        compile ??= SerializerCompiler()(externalSchemas, options)
        return compile(route)
      })
      return serialize(document)
    }
  }
}

/** Visits at most `max` values. */
function hasMoreValues(data: unknown, max: number): boolean {
  const open = [data]
  let seen = 0
  while (open.length > 0) {
    const value = open.pop()
    if (++seen > max) return true
    if (typeof value !== 'object' || value === null) continue
    if (Array.isArray(value) && value.length > max) return true
    for (const key in value) {
      open.push((value as Record<string, unknown>)[key])
      if (open.length > max) return true
    }
  }
  return false
}
