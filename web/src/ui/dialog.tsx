import { Modal, type ModalProps } from '@mantine/core'
import { ReturnFocus } from './return-focus.tsx'

/** A modal window. The library gives the focus back only where the window stays mounted and its opener is no menu. */
export function Dialog({ children, ...props }: ModalProps) {
  return (
    <Modal returnFocus={false} closeButtonProps={{ 'aria-label': 'Close' }} {...props}>
      <ReturnFocus />
      {children}
    </Modal>
  )
}
