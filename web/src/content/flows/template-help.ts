// The most common variables, filters and tags. A test checks that docs/guides/templates.md contains all of them.

/** `isExample`: the name depends on the organization. */
export const nameHelp: { name: string; meaning: string; isExample?: boolean }[] = [
  { name: 'contact.email', meaning: 'Recipient’s email' },
  { name: 'contact.first_name', meaning: 'First name, if known' },
  { name: 'contact.last_name', meaning: 'Last name, if known' },
  { name: 'contact.attributes.plan', meaning: 'A contact attribute, here plan', isExample: true },
  { name: 'organization.name', meaning: 'Your organization’s name' },
  { name: 'brand.name', meaning: 'The name in your brand settings' },
  { name: 'brand.color', meaning: 'The color of your brand, also brand.background_color' },
  { name: 'brand.logo_url', meaning: 'The address of your logo, if there is one' },
  { name: 'brand.address', meaning: 'Your postal address, if it is set' },
  { name: 'unsubscribe_url', meaning: 'The contact’s unsubscribe link' },
  { name: 'order_id', meaning: 'A variable your app sends in context, here order_id', isExample: true },
]

export type Example = { source: string; result: string }

export const filterHelp: Example[] = [
  { source: '{{ nickname | default: "friend" }}', result: 'friend' },
  { source: '{{ "tea TIME" | capitalize }}', result: 'Tea time' },
  { source: '{{ "Tea" | upcase }}', result: 'TEA' },
  { source: '{{ "A long sentence" | truncate: 9 }}', result: 'A long...' },
  { source: '{{ "2026-03-01" | date: "%d %B %Y" }}', result: '01 March 2026' },
  { source: '{{ 2.346 | round: 2 }}', result: '2.35' },
  { source: '{{ 3 | times: 4 }}', result: '12' },
  { source: '{{ items | map: "name" | join: ", " }}', result: 'Tea, Cake' },
  { source: '{{ items | size }}', result: '2' },
  { source: '{{ "a b&c" | url_encode }}', result: 'a+b%26c' },
  { source: '{{ "<b>a</b>" | raw }}', result: '<b>a</b>' },
]

export const tagHelp: Example[] = [
  { source: '{% if items.size > 1 %}many{% elsif order_id %}one{% else %}none{% endif %}', result: 'many' },
  {
    source: '{% for item in items %}{{ forloop.index }} {{ item.name }} {% else %}nothing{% endfor %}',
    result: '1 Tea 2 Cake',
  },
  { source: '{% assign total = items | sum: "price" %}{{ total }}', result: '7' },
]
