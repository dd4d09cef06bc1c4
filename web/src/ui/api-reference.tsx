import { Anchor } from '@mantine/core'
import { basePath } from '../api/base.ts'

/** Served outside of this app. */
export const apiReference = `${basePath}docs/`

export function ApiReferenceLink() {
  return (
    <Anchor href={apiReference} target="_blank" underline="always">
      API reference
    </Anchor>
  )
}
