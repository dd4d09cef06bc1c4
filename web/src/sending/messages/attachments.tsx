import { Anchor, List, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import type { EmailAttachment } from '../../api/types.ts'
import { fileSize } from '../../ui/file-size.ts'
import { ErrorLine } from '../../ui/states.tsx'
import { downloadAttachment } from './messages.api.ts'

/** The attachments of a message, which can be downloaded while they are stored. */
export function Attachments({ messageId, attachments }: { messageId: string; attachments: EmailAttachment[] }) {
  const download = useMutation({
    mutationFn: (position: number) => downloadAttachment(messageId, position, attachments[position]!.filename),
  })
  return (
    <>
      <List aria-label="Attachments" spacing={4} listStyleType="none">
        {attachments.map(({ filename, size_bytes, is_stored }, position) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the position identifies an attachment
          <List.Item key={position} className="break">
            {is_stored ? (
              <Anchor component="button" type="button" onClick={() => download.mutate(position)}>
                {filename}
              </Anchor>
            ) : (
              filename
            )}{' '}
            <Text span size="sm" c="dimmed">
              {fileSize(size_bytes)}
              {!is_stored && ', no longer stored'}
            </Text>
          </List.Item>
        ))}
      </List>
      {download.error && <ErrorLine>{download.error.message}</ErrorLine>}
    </>
  )
}
