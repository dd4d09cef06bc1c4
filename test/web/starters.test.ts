import { expect, test } from 'vitest'
import { type BrandValues, brandValuesOf } from '../../src/content/brands/brand-values.ts'
import { previewOf } from '../../src/content/flows/preview.ts'
import type { OrganizationId } from '../../src/platform/values/ids.ts'
import { toContext } from '../../web/src/content/flows/sample-data.ts'
import { type Starter, starters } from '../../web/src/content/flows/starters.ts'

const settings = { color: null, backgroundColor: null, font: null, postalAddress: null, websiteUrl: null }
const nothing = { ...settings, name: null, logoImageId: null, logo: null, updatedAt: null }
const organization = { organizationId: '' as OrganizationId, organizationName: 'Acme' }
const empty = brandValuesOf({ ...organization, ...nothing }, 'https://mail.example.com')
const full: BrandValues = {
  ...empty,
  name: 'Acme Store',
  logo_url: 'https://mail.example.com/i/logo.png',
  color: '#aa0000',
  address: 'Main St 1, 1010 Vienna',
  website_url: 'https://acme.shop/',
}

async function render({ flow, sample }: Starter, brand: BrandValues) {
  const { subject, html, html_format: format, text, preheader, kind } = flow
  const variables = Object.keys(sample).map((name) => ({ name }))
  return previewOf(
    {
      template: { subject, source: { format, text: html }, text, preheader, brand },
      values: {
        contact: { email: 'ada@example.com', firstName: null, lastName: null, attributes: {} },
        organization: { name: 'Acme' },
        unsubscribeUrl: 'https://mail.example.com/u/x',
        context: toContext(sample, variables),
      },
      isMarketing: kind === 'marketing',
      utmQuery: '',
      settings: { postalAddress: brand.address, baseUrl: 'https://mail.example.com' },
    },
    20,
  )
}

test('every starter is a valid template with its sample values, and has the look of the brand', async () => {
  expect(starters).toHaveLength(8)
  for (const starter of starters) {
    const plain = await render(starter, empty)
    expect([starter.id, plain.problems, plain.missing]).toEqual([starter.id, [], []])
    expect(plain.variables.map(({ name }) => name.split('.')[0]).sort()).toEqual(
      expect.arrayContaining(Object.keys(starter.sample).sort()),
    )
    expect(plain.html).toContain('Acme')
    expect(plain.html).not.toContain('<img')
    expect(plain.html).not.toMatch(/\{[{%]|undefined|NaN|liquidtag/)
    expect(plain.html).toContain('prefers-color-scheme: dark')
    // Gmail cuts off longer emails.
    expect(plain.html!.length).toBeLessThan(60_000)
    expect(plain.text).not.toContain('{')
    const isMarketing = starter.flow.kind === 'marketing'
    expect(plain.html!.split('https://mail.example.com/u/x').length - 1).toBe(isMarketing ? 1 : 0)

    const branded = await render(starter, full)
    expect(branded.html).toContain(
      '<a href="https://acme.shop/"><img src="https://mail.example.com/i/logo.png" alt="Acme Store"',
    )
    expect(branded.html).toContain('Main St 1, 1010 Vienna')
    // Links of samples lead to example.com.
    expect(branded.findings.filter(({ check }) => check !== 'link')).toEqual([])
    if (starter.flow.html.includes('</mj-button>')) expect(branded.html).toContain('background:#aa0000')
  }
})
