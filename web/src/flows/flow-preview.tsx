import { Box, Group, Paper, SegmentedControl, Skeleton, Text, Title } from '@mantine/core'
import { IconDeviceDesktop, IconDeviceMobile } from '@tabler/icons-react'
import { useState } from 'react'
import { MailFrame, MailText } from '../ui/mail-frame.tsx'
import { Notice } from '../ui/notice.tsx'
import { Failed } from '../ui/states.tsx'
import type { PreviewState } from './use-preview.ts'

const phoneWidth = 375
type Shown = 'desktop' | 'phone' | 'text'

const views = [
  { value: 'desktop', label: <View icon={<IconDeviceDesktop size={15} aria-hidden />}>Desktop</View> },
  { value: 'phone', label: <View icon={<IconDeviceMobile size={15} aria-hidden />}>Phone</View> },
  { value: 'text', label: 'Text' },
]

function View({ icon, children }: { icon: React.ReactNode; children: string }) {
  return (
    <Group gap={5} wrap="nowrap" justify="center">
      {icon}
      {children}
    </Group>
  )
}

export function FlowPreview({ state }: { state: PreviewState }) {
  const { preview } = state
  const [shown, setShown] = useState<Shown>('desktop')
  const [last, setLast] = useState<{ html: string; text: string; subject: string }>()
  // The last sound preview stays while the template is broken: the eye keeps its place.
  const { html, text, subject } = preview.data ?? {}
  if (typeof html === 'string' && (last?.html !== html || last.subject !== subject || last.text !== text)) {
    setLast({ html, text: text ?? '', subject: subject ?? '' })
  }
  const faulty = preview.data !== undefined && preview.data.problems.length > 0
  return (
    <Paper withBorder p="md" component="section" aria-label="Preview">
      <Group justify="space-between" mb="sm" gap="xs">
        <Title order={2}>Preview</Title>
        <SegmentedControl
          aria-label="Preview as"
          size="xs"
          data={views}
          value={shown}
          onChange={(value) => setShown(value as Shown)}
        />
      </Group>
      {faulty && (
        <Box mb="sm">
          <Notice tone="warn">
            {last ? 'Not up to date: the template has a problem.' : 'The template has a problem.'}
          </Notice>
        </Box>
      )}
      <Warnings warnings={preview.data?.warnings ?? []} />
      {preview.error && !preview.data ? (
        <Failed error={preview.error} retry={preview.refetch} retrying={preview.isFetching} />
      ) : last ? (
        <>
          <Text size="xs" c="dimmed">
            Subject
          </Text>
          <Text fw={600} mb="sm" className="break">
            {last.subject}
          </Text>
          <Box>
            {shown === 'text' ? (
              <MailText text={last.text} />
            ) : (
              <MailFrame
                html={last.html}
                title="Preview of the mail"
                height="min(520px, 60vh)"
                {...(shown === 'phone' && { width: phoneWidth })}
              />
            )}
          </Box>
        </>
      ) : (
        !faulty && <Skeleton height={320} />
      )}
    </Paper>
  )
}

/** What does not keep a flow from being saved, but should not go out. */
function Warnings({ warnings }: { warnings: string[] }) {
  return (
    <div aria-live="polite">
      {warnings.length > 0 && (
        <Notice tone="warn">
          {warnings.map((warning) => (
            <div key={warning} className="break">
              {warning}
            </div>
          ))}
        </Notice>
      )}
    </div>
  )
}
