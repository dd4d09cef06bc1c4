import { List, Text, ThemeIcon } from '@mantine/core'
import { IconCheck, IconX } from '@tabler/icons-react'
import { useEffect, useRef } from 'react'
import type { MailServerTest } from '../../api/types.ts'
import { Notice } from '../../ui/notice.tsx'
import classes from './test-steps.module.css'

const names: Record<MailServerTest['steps'][number]['step'], string> = {
  resolve: 'Find the host',
  connect: 'Connect',
  tls: 'Encrypt',
  greeting: 'Greeting',
  ehlo: 'Capabilities',
  auth: 'Sign in',
  quit: 'Close',
}

/** The dialogue with a mail server, step by step. A result comes into view, wherever its button is. */
export function TestSteps({ result }: { result: MailServerTest }) {
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (result) box.current?.scrollIntoView({ block: 'nearest' })
  }, [result])
  return (
    <div ref={box} className={classes.result}>
      <Notice
        tone={result.ok ? 'good' : 'bad'}
        role={result.ok ? 'status' : 'alert'}
        title={result.ok ? 'The connection works' : 'The connection doesn’t work'}
      >
        <List
          mt="xs"
          spacing="xs"
          listStyleType="none"
          aria-label="Steps of the test"
          styles={{ itemWrapper: { alignItems: 'flex-start' } }}
        >
          {result.steps.map(({ step, ok, detail }, index) => (
            <List.Item
              // biome-ignore lint/suspicious/noArrayIndexKey: The list is shown as it arrived.
              key={index}
              icon={
                <ThemeIcon size={20} radius="xl" color={ok ? 'green' : 'red'} variant="light">
                  {ok ? <IconCheck size={14} aria-label="Succeeded" /> : <IconX size={14} aria-label="Failed" />}
                </ThemeIcon>
              }
            >
              <Text fw={600} size="sm">
                {names[step]}
              </Text>
              <Text size="sm" className="break">
                {detail}
              </Text>
            </List.Item>
          ))}
        </List>
      </Notice>
    </div>
  )
}
