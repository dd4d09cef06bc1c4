import { hostileBounces } from './hostile-bounces.ts'
import type { HostileInput } from './hostile-calls.ts'
import { hostileImports } from './hostile-imports.ts'
import { hostileRequests } from './hostile-requests.ts'
import { hostileSubmissions } from './hostile-submissions.ts'
import { hostileTemplates } from './hostile-templates.ts'

/** Inputs of ordinary size that once stopped the service, each in seeded variants. */
export const hostileInputs: HostileInput[] = [
  ...hostileImports,
  ...hostileBounces,
  ...hostileSubmissions,
  ...hostileTemplates,
  ...hostileRequests,
]
