import classes from './mail-frame.module.css'

type Props = { html: string; title: string; width?: number; height?: string }

/**
 * Mail as a reader shows it. The frame may run no script, read nothing of the app and open links in a new tab only:
 * what stands in it was written by whoever wrote the template and its data.
 */
export function MailFrame({ html, title, width, height = '60vh' }: Props) {
  return (
    <div className={classes.desk}>
      <iframe
        title={title}
        className={classes.frame}
        sandbox="allow-popups allow-popups-to-escape-sandbox"
        srcDoc={withLinksInNewTab(html)}
        style={{ width: width ? `${width}px` : '100%', height }}
      />
    </div>
  )
}

// After the doctype: a document that starts with anything else is shown by the rules of 1998.
function withLinksInNewTab(html: string): string {
  const doctype = /^\s*<!doctype[^>]*>/i.exec(html)?.[0] ?? ''
  return `<!doctype html><base target="_blank">${html.slice(doctype.length)}`
}

/** Mail without HTML, in the frame's place. */
export function MailText({ text }: { text: string }) {
  return <pre className={classes.text}>{text}</pre>
}
