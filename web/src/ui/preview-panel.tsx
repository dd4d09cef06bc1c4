import { ActionIcon, Group, Loader, Modal, Paper, SegmentedControl, Skeleton, Switch, Text, Title } from '@mantine/core'
import { IconArrowsMaximize, IconDeviceDesktop, IconDeviceMobile } from '@tabler/icons-react'
import { type ComponentProps, type ReactNode, useState } from 'react'
import { EmailFrame, EmailText, hasDarkStyles } from './email-frame.tsx'
import classes from './preview-panel.module.css'

/** Wider than the usual breakpoint of 600 px, so that the desktop layout is shown. */
const desktopWidth = 640
const phoneWidth = 375
type PreviewMode = 'desktop' | 'phone' | 'text'

const views = [
  { value: 'desktop', label: <View icon={<IconDeviceDesktop size={15} aria-hidden />}>Desktop</View> },
  { value: 'phone', label: <View icon={<IconDeviceMobile size={15} aria-hidden />}>Phone</View> },
  { value: 'text', label: 'Text' },
]

function View({ icon, children }: { icon: ReactNode; children: string }) {
  return (
    <Group gap={5} wrap="nowrap" justify="center">
      {icon}
      {children}
    </Group>
  )
}

export type ShownEmail = { html: string; text: string; subject: string }

type Props = {
  title: string
  /** Undefined while it is loading. */
  email: ShownEmail | undefined
  isUpdating: boolean
  /** Shown instead of the email, if it cannot be shown. */
  instead?: ReactNode
  /** Styles that are added to the email. */
  css?: string
  /** Choices and problems, above the email. */
  children?: ReactNode
} & Pick<ComponentProps<typeof EmailFrame>, 'picking' | 'overlay'>

/** A rendered email as on a desktop or a phone, in light or dark mode, or as text. */
export function PreviewPanel({ title, email, isUpdating, instead, css, children, ...editing }: Props) {
  const [dark, setDark] = useState(false)
  // On a phone, the email as on a desktop would be too small to read.
  const [mode, setMode] = useState<PreviewMode>(() => (matchMedia('(max-width: 48em)').matches ? 'phone' : 'desktop'))
  const [large, setLarge] = useState(false)
  const frame = email && { html: email.html, ...(css !== undefined && { css }) }
  return (
    <Paper withBorder p="md" component="section" aria-label={title}>
      <Group justify="space-between" mb="sm" gap="xs">
        <Group gap="xs">
          <Title order={2}>{title}</Title>
          {isUpdating && <Updating />}
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
            disabled={!email}
            onClick={() => setLarge(true)}
          >
            <IconArrowsMaximize size={16} aria-hidden />
          </ActionIcon>
        </Group>
      </Group>
      {children}
      {instead !== undefined ? (
        instead
      ) : email && frame ? (
        <>
          <Group justify="space-between" align="flex-start" wrap="nowrap" mb="sm">
            <div>
              <Text size="xs" c="dimmed">
                Subject
              </Text>
              <Text fw={600} className="break">
                {email.subject}
              </Text>
            </div>
            {mode !== 'text' && (
              <Switch
                size="xs"
                label="Dark mode"
                styles={{ label: { whiteSpace: 'nowrap' } }}
                checked={dark}
                onChange={(event) => setDark(event.currentTarget.checked)}
              />
            )}
          </Group>
          {dark && mode !== 'text' && !hasDarkStyles(email.html) && (
            <Text size="xs" c="dimmed" mb="xs">
              This email has no dark styles. Some mail apps invert its colors, roughly as shown here; others leave it as
              it is.
            </Text>
          )}
          {mode === 'text' ? (
            <EmailText text={email.text} />
          ) : (
            <EmailFrame
              {...frame}
              {...editing}
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
            title={email.subject}
            closeButtonProps={{ 'aria-label': 'Close' }}
          >
            <EmailFrame {...frame} title="Email in full window" height="calc(100dvh - 90px)" />
          </Modal>
        </>
      ) : (
        <Skeleton height={320} />
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
