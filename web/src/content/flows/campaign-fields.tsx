import { Collapse, Text, TextInput, UnstyledButton } from '@mantine/core'
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react'
import { type ChangeEvent, type ReactNode, useId, useState } from 'react'
import classes from './flow-editor.module.css'
import { type UtmName, utmQuery, utmTitles } from './utm.ts'

/** The props of an input, also those of a form. */
type Field = { value?: string; error?: ReactNode; onChange: (event: ChangeEvent<HTMLInputElement>) => void }
type Props = { description: string; field: (name: UtmName) => Field }

const names = Object.keys(utmTitles) as UtmName[]

/** The parameters that analytics read from links. */
export function CampaignFields({ description, field }: Props) {
  const fields = names.map((name) => ({ name, value: '', ...field(name) }))
  const [shows, setShows] = useState(() => fields.some(({ value }) => value !== ''))
  const id = useId()
  // A problem that is out of sight would leave a save without an explanation.
  const opened = shows || fields.some(({ error }) => error)
  const query = utmQuery(Object.fromEntries(fields.map(({ name, value }) => [name, value])))
  return (
    <div>
      <UnstyledButton onClick={() => setShows(!shows)} aria-expanded={opened} aria-controls={id} fz="sm" fw={500}>
        {opened ? <IconChevronDown size={14} aria-hidden /> : <IconChevronRight size={14} aria-hidden />} Campaign
        parameters (UTM)
      </UnstyledButton>
      <Collapse expanded={opened} id={id}>
        <Text size="xs" c="dimmed" mt={4}>
          {description}
        </Text>
        <div className={classes.fields} style={{ paddingTop: 8 }}>
          {fields.map(({ name, ...props }) => (
            <TextInput
              key={name}
              label={`${utmTitles[name].label} (optional)`}
              placeholder={utmTitles[name].example}
              maxLength={100}
              {...props}
            />
          ))}
        </div>
        {query && (
          <Text size="xs" c="dimmed" mt={6} className="break">
            Links lead to, for example, https://your-site.com/page?{query}
          </Text>
        )}
      </Collapse>
    </div>
  )
}
