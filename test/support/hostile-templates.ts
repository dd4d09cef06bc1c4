import { type HostileInput, manage, newFlow, repeat, send } from './hostile-calls.ts'
import { until } from './until.ts'
import type { Victim } from './victim.ts'

const preview = (victim: Victim, flow: object) =>
  manage(victim, '/flows/preview', { subject: 'x', context: {}, ...flow })

const letterOf = (index: number) => String.fromCodePoint(0x4e00 + (index % 20_000))

export const hostileTemplates: HostileInput[] = [
  {
    name: 'MJML with the placeholder word',
    fire: async (victim, random, scale) => [
      await preview(victim, {
        html_format: 'mjml',
        html: `<mjml><mj-body>liquidtag${random.pick(['q', 'Q', 'qq'])}${'q'.repeat(100_000 * scale)}</mj-body></mjml>`,
      }),
    ],
  },
  {
    name: 'MJML with many problems after many lines',
    fire: async (victim, random, scale) => {
      const lines = '\n'.repeat(100_000 * scale)
      const problem = random.pick([
        '<mj-include ',
        '{{a}}',
        '<mj-text wrong="1"></mj-text>',
        '<mj-section><mj-wrong/></mj-section>',
      ])
      return [
        await preview(victim, {
          html_format: 'mjml',
          html: `<mjml><mj-body>${lines}${problem.repeat(1_000 * scale)}</mj-body></mjml>`,
        }),
      ]
    },
  },
  {
    name: 'MJML that compiles slowly, several at once',
    fire: (victim, random, scale) => {
      const section = '<mj-section><mj-column><mj-text>x</mj-text></mj-column></mj-section>'
      const html = `<mjml><mj-body>${section.repeat(random.int(1_000, 3_000) * scale)}</mj-body></mjml>`
      return Promise.all(Array.from({ length: 4 }, () => preview(victim, { html_format: 'mjml', html })))
    },
  },
  {
    name: 'template with many guards and variables',
    fire: async (victim, random, scale) => {
      // Names are short, because a tag is limited to 4,000 characters.
      const names = (tag: number, count: number, suffix: string) =>
        Array.from(
          { length: count },
          (_, i) => `${String.fromCharCode(97 + (tag % 26))}${i.toString(36)}${suffix}`,
        ).join(' or ')
      const guard = (tag: number) => `{% if ${names(tag, 250, '==nil')} %}{% elsif x %}x{% endif %}`
      const uses = (tag: number) => `{% if ${names(tag, 500, '')} %}x{% endif %}`
      const count = Math.ceil(60 * scale)
      const html = random.chance(0.5)
        ? repeat(count, guard) + repeat(count, uses)
        : repeat(count, (i) => guard(i) + uses(i))
      return [await preview(victim, { html })]
    },
  },
  {
    name: 'template with generated links and a missing variable',
    fire: async (victim, random, scale) => [
      await preview(victim, {
        html: `{{missing}}${'x'.repeat(random.int(100_000, 360_000) * scale)}{% for i in (1..3000) %}<a href="https://example.com/{{i}}">x</a>{% endfor %}`,
      }),
    ],
  },
  {
    name: 'link with a long invalid host',
    // Not scaled: a longer one is rendered in a task process.
    fire: async (victim, random) => {
      const x = random.pick([`${'a'.repeat(90_000)} b`, `${'a/'.repeat(45_000)} b`, repeat(90_000, letterOf)])
      return [await preview(victim, { html: `<a href="https://{{x}}">x</a><img src="https://{{x}}">`, context: { x } })]
    },
  },
  {
    name: 'template of many tags, previewed again and again',
    fire: async (victim, random, scale) => {
      const answers: number[] = []
      for (let turn = 0; turn < 5 * scale; turn++)
        answers.push(await preview(victim, { html: repeat(5_000, (i) => `{{a${i % 500}}}`) + random.int(0, 1e9) }))
      return answers
    },
  },
  {
    name: 'many large flows, a send through each',
    fire: async (victim, random, scale) => {
      const answers: number[] = []
      for (let turn = 0; turn < 12 * scale; turn++) {
        const html = repeat(4_500, (i) => `{{ v${i % 900} | default: "${'x'.repeat(60)}" }}`)
        const flowId = await newFlow(victim, { html: `${random.int(0, 1e9)}${html}` })
        if (flowId) answers.push(await send(victim, flowId))
      }
      return answers
    },
  },
  {
    name: 'subject that renders slowly',
    fire: async (victim, random, scale) => {
      const format = random.pick(['%c%c%c%c', '%A %B %c', '%Y-%m-%d'])
      const subject = `{% for i in (1..1000) %}{% assign q = ${random.int(1, 9)} | date: "${format}", "Europe/Berlin" %}{% endfor %}x`
      const flowId = await newFlow(victim, { subject })
      return flowId ? Promise.all(Array.from({ length: 30 * scale }, () => send(victim, flowId))) : [422]
    },
  },
  {
    name: 'body that renders slowly, in many accepted mails',
    fire: async (victim, random, scale) => {
      const loop = random.pick([
        '{% for i in (1..5000) %}{% assign q = i | date: "%c%c", "Europe/Berlin" %}{% endfor %}',
        '{% for i in (1..300) %}{% for j in (1..300) %}{{ i | times: j }}{% endfor %}{% endfor %}',
        '{% assign s = "x" %}{% for i in (1..2000) %}{% assign s = s | append: "y" | upcase | reverse %}{% endfor %}{{ s }}',
      ])
      const flowId = await newFlow(victim, { html: `<p>${loop}</p>` })
      if (!flowId) return [422]
      const answers = await Promise.all(
        Array.from({ length: 40 * scale }, (_, i) => send(victim, flowId, { contact_email: `s${i}@example.com` })),
      )
      await until(
        'the mails to be settled',
        async () => {
          const [row] = await victim.database.db<{ open: number }>`
            select count(*) as open from messages where status = 'queued' and organization_id = ${victim.attacker.organizationId}`
          victim.service.pid()
          return row!.open === 0
        },
        120_000,
      )
      return answers
    },
  },
]
