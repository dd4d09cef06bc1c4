import { bundleWhenStale } from './bundle.ts'

await bundleWhenStale()
