import { Anchor } from '@mantine/core'
import type { ReactNode } from 'react'
import { basePath } from '../api/base.ts'

/** Served outside of this app. */
export const apiReference = `${basePath}docs/`
export const guides = `${basePath}docs/guides/`

export function ApiReferenceLink() {
  return (
    <Anchor href={apiReference} target="_blank" underline="always">
      API reference
    </Anchor>
  )
}

/** A link to a guide by its name, the file name without extension. */
export function GuideLink({ name, children }: { name: string; children: ReactNode }) {
  return (
    <Anchor href={guides + name} target="_blank" underline="always" inherit>
      {children}
    </Anchor>
  )
}
