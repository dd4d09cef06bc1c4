import { Skeleton } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Brand } from '../../api/types.ts'
import { useTheme } from '../../shell/color-scheme.ts'
import { EmailFrame } from '../../ui/email-frame.tsx'
import { ErrorLine, Load } from '../../ui/states.tsx'
import { previewQuery } from '../flows/flows.api.ts'
import { starters } from '../flows/starters.ts'

const typingPauseMs = 350
const frameHeight = 520
const shownStarter = starters.find(({ id }) => id === 'announcement')!

export type BrandValues = Brand['values']

/** A starter with the values of the form, saved or not. */
export function BrandPreview({ values }: { values: BrandValues }) {
  const { dark } = useTheme()
  const [shown] = useDebouncedValue(values, typingPauseMs)
  const [{ name: _, ...text }] = useState(shownStarter.flow)
  const preview = useQuery(previewQuery({ ...text, html: withValues(text.html, shown), context: {} }))
  return (
    <Load query={preview} loading={<Skeleton height={frameHeight} />}>
      {({ html, problems }) =>
        html ? (
          <EmailFrame
            html={html}
            title="Preview of an email"
            layoutWidth={640}
            height={`${frameHeight}px`}
            scheme={dark ? 'dark' : 'light'}
          />
        ) : (
          <ErrorLine>{problems[0]?.problem ?? 'The email can’t be shown.'}</ErrorLine>
        )
      }
    </Load>
  )
}

/** Like the service, puts the values into the Liquid tags of the template. */
const withValues = (html: string, values: BrandValues) =>
  html.replace(/brand\.(\w+)/g, (found, name: keyof BrandValues) => (name in values ? literalOf(values[name]) : found))

const literalOf = (value: string | null) => (value === null ? 'nil' : `'${value.replace(/['{}]/g, '’')}'`)
