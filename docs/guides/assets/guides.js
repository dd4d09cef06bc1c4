// @ts-check
// Runs before the page is shown, so that it appears in the theme that was chosen in the web app.
const scheme = localStorage.getItem('mantine-color-scheme-value')
if (scheme === 'light' || scheme === 'dark') document.documentElement.style.colorScheme = scheme

const resultsMax = 12
const indexUrl = 'search-index.json'

document.addEventListener('DOMContentLoaded', () => {
  addCopyButtons()
  addSearch()
  addNavigation()
})

/** Browsers without `::details-content` would hide the navigation on wide pages. */
function addNavigation() {
  const side = document.querySelector('details.side')
  const narrow = matchMedia('(max-width: 820px)')
  const update = () => side?.toggleAttribute('open', !narrow.matches)
  narrow.addEventListener('change', update)
  update()
}

function addCopyButtons() {
  for (const block of document.querySelectorAll('.code:not(.output)')) {
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'copy'
    button.textContent = 'Copy'
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(block.querySelector('code')?.textContent ?? '')
      button.textContent = 'Copied'
      setTimeout(() => {
        button.textContent = 'Copy'
      }, 2000)
    })
    block.append(button)
  }
}

function addSearch() {
  const form = /** @type {HTMLFormElement} */ (document.querySelector('form.search'))
  const field = /** @type {HTMLInputElement} */ (document.getElementById('search'))
  const list = /** @type {HTMLElement} */ (document.getElementById('results'))
  const status = /** @type {HTMLElement} */ (document.getElementById('search-status'))
  form.hidden = false

  /** @type {Promise<Entry[]> | undefined} */
  let index
  const load = () => {
    index ??= fetch(indexUrl).then((response) => response.json())
    return index
  }

  const update = async () => {
    const words = wordsOf(field.value)
    if (words.length === 0) {
      list.hidden = true
      status.textContent = ''
      return
    }
    const entries = await load()
    // The text may have changed while the index was loading.
    if (wordsOf(field.value).join(' ') !== words.join(' ')) return
    const found = search(entries, words)
    list.replaceChildren(...(found.length > 0 ? found.map((entry) => resultOf(entry, words)) : [nothingFound()]))
    list.hidden = false
    status.textContent = found.length === 1 ? '1 result' : `${found.length} results`
  }

  form.addEventListener('submit', (event) => {
    event.preventDefault()
    list.querySelector('a')?.click()
  })
  field.addEventListener('focus', () => void load())
  field.addEventListener('input', () => void update())
  form.addEventListener('keydown', (event) => {
    const links = [...list.querySelectorAll('a')]
    const at = links.indexOf(/** @type {HTMLAnchorElement} */ (document.activeElement))
    if (event.key === 'Escape') {
      list.hidden = true
      field.focus()
    } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      const next = at + (event.key === 'ArrowDown' ? 1 : -1)
      const target = next < 0 ? field : links[Math.min(next, links.length - 1)]
      target?.focus()
      event.preventDefault()
    }
  })
  document.addEventListener('click', (event) => {
    if (!form.contains(/** @type {Node} */ (event.target))) list.hidden = true
  })
  list.addEventListener('click', () => {
    list.hidden = true
  })
  document.addEventListener('keydown', (event) => {
    const isTyping = /** @type {Element | null} */ (event.target)?.closest('input, textarea')
    const isShortcut = event.key === '/' || (event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey))
    if (!isShortcut || (isTyping && event.key === '/')) return
    event.preventDefault()
    field.focus()
    field.select()
  })
}

/** @typedef {{ guide: string, title: string, heading: string, anchor: string, text: string }} Entry */

/** @param {string} text */
function wordsOf(text) {
  return text.toLowerCase().split(/\s+/).filter(Boolean)
}

/**
 * Returns the sections that contain all words, those with the words in a heading first.
 * @param {Entry[]} entries
 * @param {string[]} words
 */
function search(entries, words) {
  return entries
    .map((entry) => ({ entry, score: scoreOf(entry, words) }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score)
    .slice(0, resultsMax)
    .map(({ entry }) => entry)
}

/**
 * @param {Entry} entry
 * @param {string[]} words
 */
function scoreOf(entry, words) {
  const title = entry.title.toLowerCase()
  const heading = entry.heading.toLowerCase()
  const text = entry.text.toLowerCase()
  let score = 0
  for (const word of words.map(stemOf)) {
    const inTitle = title.includes(word)
    const inHeading = heading.includes(word)
    const inText = text.split(word).length - 1
    if (!inTitle && !inHeading && inText === 0) return 0
    score += (inHeading ? 20 : 0) + (inTitle ? (entry.heading === '' ? 25 : 5) : 0) + Math.min(inText, 5)
  }
  return score
}

/**
 * Finds "retries" for "retry" and "webhook" for "webhooks".
 * @param {string} word
 */
function stemOf(word) {
  return word.length > 4 ? word.replace(/(ies|ing|ed|es|s|y)$/, '') : word
}

/**
 * @param {Entry} entry
 * @param {string[]} words
 */
function resultOf(entry, words) {
  const link = document.createElement('a')
  link.href = entry.guide + (entry.anchor ? `#${entry.anchor}` : '')
  link.textContent = entry.heading ? `${entry.title} › ${entry.heading}` : entry.title
  const excerpt = document.createElement('span')
  const at = entry.text.toLowerCase().indexOf(stemOf(words[0] ?? ''))
  const start = Math.max(0, at - 30)
  excerpt.textContent = (start > 0 ? '…' : '') + entry.text.slice(start, start + 140)
  link.append(excerpt)
  return link
}

function nothingFound() {
  const line = document.createElement('p')
  line.textContent = 'No results. Try fewer or shorter words.'
  return line
}
