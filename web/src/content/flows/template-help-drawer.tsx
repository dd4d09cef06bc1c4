import { Button, Code, Drawer, Stack, Text, Title } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconHelpCircle } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { GuideLink } from '../../ui/api-reference.tsx'
import { type Example, filterHelp, nameHelp, tagHelp } from './template-help.ts'

/** A short reference of the template language. */
export function TemplateHelp() {
  const [opened, drawer] = useDisclosure(false)
  return (
    <>
      <Button size="xs" variant="default" leftSection={<IconHelpCircle size={14} aria-hidden />} onClick={drawer.open}>
        Variables and filters
      </Button>
      <Drawer
        opened={opened}
        onClose={drawer.close}
        position="right"
        title="Variables and filters"
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        <Stack gap="lg">
          <Part title="Variables" note="Write {{ contact.first_name }} to show one, also in the subject.">
            {nameHelp.map(({ name, meaning }) => (
              <Entry key={name} source={name} note={meaning} />
            ))}
          </Part>
          <Part title="Filters" note="In the examples, items is a list of Tea and Cake.">
            <Examples examples={filterHelp} />
          </Part>
          <Part title="Conditions and loops">
            <Examples examples={tagHelp} />
          </Part>
          <Text size="xs" c="dimmed">
            The <GuideLink name="templates">templates guide</GuideLink> describes all filters, tags and limits.
          </Text>
        </Stack>
      </Drawer>
    </>
  )
}

function Part({ title, note, children }: { title: string; note?: string; children: ReactNode }) {
  return (
    <section aria-label={title}>
      <Title order={3}>{title}</Title>
      {note && (
        <Text size="xs" c="dimmed">
          {note}
        </Text>
      )}
      <Stack gap="xs" mt="xs">
        {children}
      </Stack>
    </section>
  )
}

const Examples = ({ examples }: { examples: Example[] }) =>
  examples.map(({ source, result }) => <Entry key={source} source={source} note={`→ ${result}`} />)

function Entry({ source, note }: { source: string; note: string }) {
  return (
    <div>
      <Code className="break">{source}</Code>
      <Text size="xs" c="dimmed" mt={2} className="break">
        {note}
      </Text>
    </div>
  )
}
