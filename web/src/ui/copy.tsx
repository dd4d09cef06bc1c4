import { ActionIcon, Code, Group, CopyButton as MantineCopyButton, Paper } from '@mantine/core'
import { IconCheck, IconCopy } from '@tabler/icons-react'
import classes from './copy.module.css'

const copiedForMs = 2000

function CopyIcon({ value, label }: { value: string; label: string }) {
  return (
    <MantineCopyButton value={value} timeout={copiedForMs}>
      {({ copied, copy }) => (
        <ActionIcon size={26} onClick={copy} aria-label={copied ? 'Copied' : label} title={copied ? 'Copied' : label}>
          {copied ? <IconCheck size={15} aria-hidden /> : <IconCopy size={15} aria-hidden />}
        </ActionIcon>
      )}
    </MantineCopyButton>
  )
}

/** An id, a URL, a DNS value: shown in full, copied with one press. */
export function Copyable({ value, label }: { value: string; label: string }) {
  return (
    <Group gap={4} wrap="nowrap" align="center" display="inline-flex">
      <Code className="break">{value}</Code>
      <CopyIcon value={value} label={label} />
    </Group>
  )
}

/** `shown` is a readable form of `code`, for example indented JSON. `code` is copied. */
export function CodeBlock({ code, label, shown }: { code: string; label: string; shown?: string }) {
  return (
    <Paper withBorder className={classes.block}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard. */}
      <figure tabIndex={0} aria-label={label} className={classes.code}>
        <pre>{shown ?? code}</pre>
      </figure>
      <div className={classes.copy}>
        <CopyIcon value={code} label={`Copy ${label}`} />
      </div>
    </Paper>
  )
}
