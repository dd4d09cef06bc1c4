import { buildDocumentationWhenStale } from './documentation-build.ts'

await buildDocumentationWhenStale()
