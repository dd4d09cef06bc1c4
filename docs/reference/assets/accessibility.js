// Adds what the library leaves out for keyboards and screen readers, also to parts that it renders later: a name and a
// state for the inputs of the authentication, a name for the buttons that copy code, and focus for what scrolls.
const complete = () => {
  for (const input of document.querySelectorAll('.code-input-lite__editor')) {
    if (!input.hasAttribute('aria-label'))
      input.setAttribute('aria-label', input.dataset.placeholder === 'api-key' ? 'Name' : 'Value')
    if (input.getAttribute('role') === 'combobox' && !input.hasAttribute('aria-expanded'))
      input.setAttribute('aria-expanded', 'false')
  }
  for (const button of document.querySelectorAll('.scalar-code-copy:not([aria-label])'))
    button.setAttribute('aria-label', 'Copy')
  for (const each of document.querySelectorAll('.custom-scroll:not([tabindex]), .endpoints:not([tabindex])'))
    each.tabIndex = 0
}
let isPlanned = false
new MutationObserver(() => {
  if (isPlanned) return
  isPlanned = true
  requestAnimationFrame(() => {
    isPlanned = false
    complete()
  })
}).observe(document.querySelector('#app'), { childList: true, subtree: true })
