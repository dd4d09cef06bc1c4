import { useElementSize } from '@mantine/hooks'
import { type ReactNode, useRef } from 'react'
import classes from './email-frame.module.css'
import { pickedAt, reveal } from './pick-in-frame.ts'
import type { Picked } from './shown-text.ts'

type Props = {
  html: string
  title: string
  /** Lays the email out at this width and scales it down where there is less room, so that its breakpoints apply. */
  layoutWidth?: number
  height?: string
  scheme?: 'light' | 'dark'
  /** Styles that are added to those of the email. */
  css?: string
  /** Lets the user choose texts, links and images. `top` is where the click was, in pixels of the frame. */
  picking?: { onPick: (picked: Picked, top: number) => void; revealed?: string | undefined }
  /** Shown on the email. */
  overlay?: ReactNode
}

const linkSandbox = 'allow-popups allow-popups-to-escape-sandbox'
/** The app may read such a frame. It still runs no script, and opens no window: a script there would be one of the app. */
const pickSandbox = 'allow-same-origin'

/**
 * Shows an email like an email client. The sandbox runs no script, cannot read the app and opens links in a new tab only:
 * the content is controlled by the authors of the template and its data.
 */
export function EmailFrame(props: Props) {
  const { html, title, layoutWidth, height = '60vh', scheme = 'light', css, picking, overlay } = props
  const { ref, width } = useElementSize()
  const scale = layoutWidth && width > 0 ? Math.min(1, width / layoutWidth) : 1
  const scrolledTo = useRef(0)
  const prepare = ({ contentDocument: shown, contentWindow }: HTMLIFrameElement) => {
    if (!shown || !contentWindow || !picking) return
    shown.addEventListener('click', (event) => {
      event.preventDefault()
      const picked = pickedAt(event, shown)
      if (picked) picking.onPick(picked, Math.round(event.clientY * scale))
    })
    // Every change of the template loads the email again.
    contentWindow.scrollTo({ top: scrolledTo.current })
    if (picking.revealed !== undefined) reveal(shown, picking.revealed)
    contentWindow.addEventListener('scroll', () => {
      scrolledTo.current = contentWindow.scrollY
    })
  }
  return (
    <div ref={ref} className={classes.desk} style={{ height }}>
      <iframe
        title={title}
        className={classes.frame}
        sandbox={picking ? pickSandbox : linkSandbox}
        onLoad={(event) => prepare(event.currentTarget)}
        data-inverted={(scheme === 'dark' && !hasDarkStyles(html)) || undefined}
        srcDoc={withLinksInNewTab(withScheme(html, scheme)) + (css ? `<style>${css}</style>` : '')}
        style={{
          width: layoutWidth ? `${layoutWidth}px` : '100%',
          height: `${100 / scale}%`,
          left: layoutWidth ? `${Math.max(0, (width - layoutWidth * scale) / 2)}px` : 0,
          transform: scale < 1 ? `scale(${scale})` : undefined,
        }}
      />
      {overlay}
    </div>
  )
}

const schemeQuery = /\(\s*prefers-color-scheme\s*:\s*(light|dark)\s*\)/gi

export const hasDarkStyles = (html: string) => /prefers-color-scheme\s*:\s*dark/i.test(html)

/** Decides the media queries for the color scheme, which would otherwise follow that of the system. */
const withScheme = (html: string, scheme: 'light' | 'dark') =>
  html.replace(schemeQuery, (_, wanted: string) =>
    wanted.toLowerCase() === scheme ? '(min-width: 0px)' : '(max-width: 0px)',
  )

// After the doctype: a document that starts with anything else is rendered in quirks mode.
function withLinksInNewTab(html: string): string {
  const doctype = /^\s*<!doctype[^>]*>/i.exec(html)?.[0] ?? ''
  return `<!doctype html><base target="_blank">${html.slice(doctype.length)}`
}

/** The plain-text part of an email. */
export function EmailText({ text }: { text: string }) {
  return <pre className={classes.text}>{text}</pre>
}
