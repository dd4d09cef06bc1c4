import {
  ActionIcon,
  Box,
  Group,
  Loader,
  Modal,
  Paper,
  SegmentedControl,
  Skeleton,
  Switch,
  Text,
  Title,
} from '@mantine/core'
import { IconArrowsMaximize, IconDeviceDesktop, IconDeviceMobile } from '@tabler/icons-react'
import { useState } from 'react'
import type { TemplateProblem } from '../api/types.ts'
import { EmailFrame, EmailText, hasDarkStyles } from '../ui/email-frame.tsx'
import { Notice } from '../ui/notice.tsx'
import { Failed } from '../ui/states.tsx'
import classes from './flow-preview.module.css'
import { PreviewRecipient } from './preview-recipient.tsx'
import { ProblemList } from './problems.tsx'
import type { PreviewState } from './use-preview.ts'

/** Wider than the usual breakpoint of 600 px, so that the desktop layout is shown. */
const desktopWidth = 640
const phoneWidth = 375
type PreviewMode = 'desktop' | 'phone' | 'text'

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

type Email = { html: string; text: string; subject: string }
type Props = {
  state: PreviewState
  recipient: string | null
  setRecipient: (recipient: string | null) => void
  problems: TemplateProblem[]
  mjml: boolean
  onChoose: (problem: TemplateProblem) => void
}

export function FlowPreview({ state, recipient, setRecipient, problems, mjml, onChoose }: Props) {
  const { preview } = state
  const [dark, setDark] = useState(false)
  const [mode, setMode] = useState<PreviewMode>('desktop')
  const [large, setLarge] = useState(false)
  const [last, setLast] = useState<Email>()
  // The last valid preview stays while the template has an error.
  const { html, text, subject } = preview.data ?? {}
  if (typeof html === 'string' && (last?.html !== html || last.subject !== subject || last.text !== text)) {
    setLast({ html, text: text ?? '', subject: subject ?? '' })
  }
  const first = problems[0]
  return (
    <Paper withBorder p="md" component="section" aria-label="Preview">
      <Group justify="space-between" mb="sm" gap="xs">
        <Group gap="xs">
          <Title order={2}>Preview</Title>
          {preview.isPlaceholderData && preview.isFetching && <Updating />}
        </Group>
        <Group gap="xs">
          <SegmentedControl
            aria-label="Preview as"
            size="xs"
            data={views}
            value={mode}
            onChange={(value) => setMode(value as PreviewMode)}
          />
          <ActionIcon
            variant="default"
            size={30}
            aria-label="Open in full window"
            title="Open in full window"
            disabled={!last}
            onClick={() => setLarge(true)}
          >
            <IconArrowsMaximize size={16} aria-hidden />
          </ActionIcon>
        </Group>
      </Group>
      {first && (
        <Notice tone="bad" title={last ? 'The preview is out of date' : 'No preview yet'}>
          <ProblemList problems={problems} mjml={mjml} onChoose={onChoose} />
        </Notice>
      )}
      <PreviewRecipient recipient={recipient} setRecipient={setRecipient} />
      <Warnings warnings={preview.data?.warnings ?? []} />
      {preview.error && !preview.data ? (
        <Failed error={preview.error} retry={preview.refetch} retrying={preview.isFetching} />
      ) : last ? (
        <>
          <Group justify="space-between" align="flex-start" wrap="nowrap" mb="sm">
            <div>
              <Text size="xs" c="dimmed">
                Subject
              </Text>
              <Text fw={600} className="break">
                {last.subject}
              </Text>
            </div>
            {mode !== 'text' && (
              <Switch
                size="xs"
                label="Dark mode"
                checked={dark}
                onChange={(event) => setDark(event.currentTarget.checked)}
              />
            )}
          </Group>
          {dark && mode !== 'text' && !hasDarkStyles(last.html) && (
            <Text size="xs" c="dimmed" mb="xs">
              This email has no dark styles. Some mail apps invert its colors, roughly as shown here; others leave it as
              it is.
            </Text>
          )}
          {mode === 'text' ? (
            <EmailText text={last.text} />
          ) : (
            <EmailFrame
              html={last.html}
              title="Preview of the email"
              height="min(560px, 60vh)"
              layoutWidth={mode === 'phone' ? phoneWidth : desktopWidth}
              scheme={dark ? 'dark' : 'light'}
            />
          )}
          <Modal
            opened={large}
            onClose={() => setLarge(false)}
            fullScreen
            title={last.subject}
            closeButtonProps={{ 'aria-label': 'Close' }}
          >
            <EmailFrame html={last.html} title="Email in full window" height="calc(100dvh - 90px)" />
          </Modal>
        </>
      ) : (
        !first && (
          <Box>
            <Skeleton height={320} />
          </Box>
        )
      )}
    </Paper>
  )
}

/** Compiling MJML takes seconds the first time, and meanwhile the previous preview is shown. */
const Updating = () => (
  <Group gap={6} role="status" className={classes.updating ?? ''}>
    <Loader size={14} aria-hidden />
    <Text size="xs" c="dimmed">
      Updating…
    </Text>
  </Group>
)

/** Problems that do not prevent saving. */
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
