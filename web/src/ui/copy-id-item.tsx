import { Code, Menu } from '@mantine/core'
import { useClipboard } from '@mantine/hooks'
import { toast } from './toast.tsx'

/** A menu item that shows the ID of a row and copies it. */
export function CopyIdItem({ id }: { id: string }) {
  const clipboard = useClipboard()
  return (
    <Menu.Item
      onClick={() => {
        clipboard.copy(id)
        toast(`Copied ${id}`)
      }}
    >
      Copy ID <Code>{id}</Code>
    </Menu.Item>
  )
}
