import { escapeHtml } from '../../content/content.ts'

/** The content of an account email or a notice. All texts are plain and are escaped here. */
export type EmailContent = {
  subject: string
  heading: string
  paragraphs: string[]
  /** A button; its URL is also shown as text, for clients without HTML. */
  action?: { label: string; url: string } | undefined
  /** Smaller text below the button, such as how long the link is valid. */
  note?: string | undefined
  /** Why the recipient receives this email. */
  footer: string
}

const font = "-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,Helvetica,Arial,sans-serif"
const ink = '#1f2733'
const muted = '#5b6675'
const line = '#dfe3e8'
const page = '#f3f4f6'
const sheet = '#ffffff'
const blue = '#2563c9'

/** Applied by clients that support it. Others show the light colours, or invert them, which both stay readable. */
const darkStyles = `
@media (prefers-color-scheme: dark) {
  .page { background-color: #14181f !important; }
  .sheet { background-color: #1d232c !important; border-color: #333c49 !important; }
  .ink { color: #e8ebef !important; }
  .muted { color: #a4afbd !important; }
}`

/**
 * Returns the email as HTML and as text. Layout by tables and inline styles, no images and nothing from other servers,
 * so that it looks the same in every mail client and does not reveal that it was opened.
 */
export function renderEmail(content: EmailContent): { html: string; text: string } {
  return { html: html(content), text: text(content) }
}

function html({ heading, paragraphs, action, note, footer }: EmailContent): string {
  const rows = [
    `<tr><td class="ink" style="padding:0 0 16px;font:600 20px/28px ${font};color:${ink}">${escapeHtml(heading)}</td></tr>`,
    ...paragraphs.map(
      (paragraph) =>
        `<tr><td class="ink" style="padding:0 0 16px;font:400 15px/23px ${font};color:${ink};word-break:break-word">${escapeHtml(paragraph)}</td></tr>`,
    ),
    ...(action ? [button(action)] : []),
    ...(note
      ? [
          `<tr><td class="muted" style="padding:0 0 8px;font:400 13px/20px ${font};color:${muted}">${escapeHtml(note)}</td></tr>`,
        ]
      : []),
  ]
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${escapeHtml(heading)}</title>
<style>${darkStyles}
</style>
</head>
<body class="page" style="margin:0;padding:0;background-color:${page}">
<div style="display:none;max-height:0;overflow:hidden">${escapeHtml(paragraphs[0] ?? heading)}</div>
<table role="presentation" class="page" width="100%" cellpadding="0" cellspacing="0" border="0" style="background-color:${page}">
<tr><td align="center" style="padding:32px 16px">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="max-width:520px">
<tr><td style="padding:0 4px 16px"><table role="presentation" cellpadding="0" cellspacing="0" border="0"><tr>
<td width="12" valign="middle"><div style="width:12px;height:12px;border-radius:6px;background-color:#b3372f;font-size:0;line-height:0">&nbsp;</div></td>
<td class="ink" style="padding:0 0 0 8px;font:600 16px/20px ${font};color:${ink}">Waxwing</td>
</tr></table></td></tr>
<tr><td class="sheet" align="left" style="padding:28px 28px 20px;background-color:${sheet};border:1px solid ${line};border-radius:8px">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0">
${rows.join('\n')}
</table>
</td></tr>
<tr><td class="muted" style="padding:16px 4px 0;font:400 12px/18px ${font};color:${muted}">${escapeHtml(footer)}</td></tr>
</table>
</td></tr>
</table>
</body>
</html>
`
}

function button({ label, url }: NonNullable<EmailContent['action']>): string {
  const [href, shown] = [escapeHtml(url), escapeHtml(label)]
  return `<tr><td style="padding:4px 0 20px"><table role="presentation" cellpadding="0" cellspacing="0" border="0"><tr>
<td bgcolor="${blue}" style="border-radius:6px;background-color:${blue}"><a href="${href}" style="display:inline-block;padding:11px 20px;font:600 15px/20px ${font};color:#ffffff;text-decoration:none">${shown}</a></td>
</tr></table></td></tr>
<tr><td class="muted" style="padding:0 0 16px;font:400 13px/20px ${font};color:${muted};word-break:break-all">If the button does not work, open this link:<br><a href="${href}" class="muted" style="color:${muted}">${href}</a></td></tr>`
}

function text({ heading, paragraphs, action, note, footer }: EmailContent): string {
  const parts = [
    heading,
    ...paragraphs,
    ...(action ? [`${action.label}:\n${action.url}`] : []),
    ...(note ? [note] : []),
  ]
  return `${parts.join('\n\n')}\n\n-- \n${footer}\n`
}
