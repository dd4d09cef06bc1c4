import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

const apiDuringDevelopment = 'http://127.0.0.1:3000'

/** The editor and the charts are loaded only by the pages that show them. */
const loadedLater = /codemirror|@lezer|recharts|@mantine\/charts|d3-|victory/

export default defineConfig({
  root: import.meta.dirname,
  // Relative addresses: the service writes the path of BASE_URL into <base href>, so one build serves any of them.
  base: './',
  plugins: [react()],
  build: {
    target: 'es2022',
    // Browsers that know light-dark(), which carries both themes.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    // The service sends `script-src 'self'`: nothing may be inlined.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        // Otherwise each module that several pages share is a file of its own: 57 requests for the page of contacts.
        codeSplitting: {
          groups: [
            { name: 'start', tags: ['$initial'], priority: 2 },
            { name: 'shared', minShareCount: 3, test: (id) => !loadedLater.test(id), priority: 1 },
          ],
        },
      },
    },
    chunkSizeWarningLimit: 700,
  },
  server: {
    proxy: Object.fromEntries(
      ['/api', '/public', '/t/', '/u/', '/docs', '/openapi.json'].map((path) => [path, apiDuringDevelopment]),
    ),
  },
})
