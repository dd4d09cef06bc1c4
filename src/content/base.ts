import type { Base } from '../platform/base.ts'
import { getBrandValues } from './brands/brands.ts'
import { TemplateCache } from './flows/template-cache.ts'
import { TemplateRunner } from './flows/template-runner.ts'
import { findParts } from './parts/flow-parts.ts'

export type ContentBase = ReturnType<typeof createContentBase>

/** Templates, of the service and of its sending processes. */
export const createContentBase = ({ db, limits, tasks, baseUrl }: Base) => ({
  templates: new TemplateCache(db),
  runner: new TemplateRunner({
    tasks,
    cpuMs: limits.templateCpuMs,
    baseUrl,
    findBrand: (organizationId) => getBrandValues(db, organizationId, baseUrl()),
    findParts: (organizationId, names) => findParts(db, organizationId, names),
  }),
})
