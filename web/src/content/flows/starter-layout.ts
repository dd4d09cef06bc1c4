// The parts that all starters share. Colors and the font come from the brand, which always has them.

/** Of the page, its cards and their text in the dark mode of email clients. */
const darkStyle = `      @media (prefers-color-scheme: dark) {
        body, .page > div { background-color: #14181f !important; }
        .head div { color: #e9edf3 !important; }
        .card, .card > table { background: #1f2630 !important; background-color: #1f2630 !important; }
        .card div, .card td, .card h1, .card h2 { color: #e9edf3 !important; }
        .quiet div, .quiet td, .quiet a { color: #a7b1bf !important; }
        .card a.link { color: #9cc6f0 !important; }
        .card .line p, .card .row td { border-color: #3a4452 !important; }
      }`

const logo =
  '{% if brand.website_url %}<a href="{{ brand.website_url }}">{% endif %}' +
  '<img src="{{ brand.logo_url }}" alt="{{ brand.name }}" height="40" style="height:40px;max-width:100%">' +
  '{% if brand.website_url %}</a>{% endif %}'

const header = `    <mj-section padding="24px 0 16px" css-class="head">
      <mj-column>
        <mj-text align="center" font-size="20px" font-weight="700">
          {% if brand.logo_url %}${logo}{% else %}{{ brand.name }}{% endif %}
        </mj-text>
      </mj-column>
    </mj-section>`

const footerText = '{{ brand.name }}{% if brand.address %}<br>{{ brand.address }}{% endif %}'
const unsubscribe = '<br><a href="{{ unsubscribe_url }}" style="color:#667085">Unsubscribe</a>'

const footer = (isMarketing: boolean) => `    <mj-section padding="16px 0 32px" css-class="quiet">
      <mj-column>
        <mj-text align="center" font-size="13px" color="#667085">
          ${footerText}${isMarketing ? unsubscribe : ''}
        </mj-text>
      </mj-column>
    </mj-section>`

/** A section with a white background. */
export const card = (
  ...components: string[]
) => `    <mj-section css-class="card" background-color="#ffffff" border-radius="8px" padding="24px 8px">
      <mj-column>
${components.map((component) => component.replace(/^(?=.)/gm, '        ')).join('\n')}
      </mj-column>
    </mj-section>`

export const heading = (text: string) =>
  `<mj-text padding-bottom="0"><h1 style="margin:0;font-size:24px;line-height:1.3">${text}</h1></mj-text>`
export const subheading = (text: string) =>
  `<mj-text padding-bottom="0"><h2 style="margin:0;font-size:18px;line-height:1.4">${text}</h2></mj-text>`
export const text = (content: string) => `<mj-text>${content}</mj-text>`
export const quiet = (content: string) =>
  `<mj-text font-size="14px" color="#667085" css-class="quiet">${content}</mj-text>`
export const button = (label: string, href: string) => `<mj-button href="${href}">${label}</mj-button>`
export const divider = '<mj-divider border-width="1px" border-color="#dfe3e8" css-class="line" />'
export const link = (label: string, href: string) =>
  `<a href="${href}" class="link" style="color:{{ brand.color }}">${label}</a>`

export const layout = (sections: string[], { isMarketing }: { isMarketing: boolean }) => `<mjml lang="en">
  <mj-head>
    <mj-attributes>
      <mj-all font-family="{{ brand.font }}" />
      <mj-text font-size="16px" line-height="1.6" color="#1d2530" />
      <mj-button align="left" background-color="{{ brand.color }}" color="{{ brand.text_on_color }}" border-radius="6px" font-size="16px" font-weight="600" inner-padding="12px 22px" />
      <mj-table font-size="16px" line-height="1.6" color="#1d2530" />
    </mj-attributes>
    <mj-raw>
      <meta name="color-scheme" content="light dark">
      <meta name="supported-color-schemes" content="light dark">
    </mj-raw>
    <mj-style>
${darkStyle}
    </mj-style>
  </mj-head>
  <mj-body background-color="{{ brand.background_color }}" css-class="page">
${[header, ...sections, footer(isMarketing)].join('\n')}
  </mj-body>
</mjml>
`
