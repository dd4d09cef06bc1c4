import { fastify } from 'fastify'

/** Returns the script of the library, which provides it only through its plugin. */
export async function readLibrary(): Promise<string> {
  const { default: scalar } = await import('@scalar/fastify-api-reference')
  const server = fastify()
  await server.register(scalar, { routePrefix: '/docs', configuration: { url: '/openapi.json' } })
  const { statusCode, payload } = await server.inject({ method: 'GET', url: '/docs/js/scalar.js' })
  await server.close()
  if (statusCode !== 200) throw new Error('The script of the API reference is missing.')
  // The library shows a joke in the field for the API key.
  return payload.replaceAll('QUxMIFlPVVIgQkFTRSBBUkUgQkVMT05HIFRPIFVT', 'Your API key')
}

/** Returns the script that starts the library. `theme` has the colours of the web app, for the variables of the library. */
export function startScript(theme: string): string {
  const configuration = {
    _integration: 'fastify',
    authentication: { preferredSecurityScheme: 'apiKey' },
    customCss: theme,
    // Every operation has samples of its own.
    hiddenClients: true,
    withDefaultFonts: false,
    telemetry: false,
    hideClientButton: true,
    showDeveloperTools: 'never',
    agent: { disabled: true },
    mcp: { disabled: true },
  }
  return `const url = new URL('../openapi.json', document.baseURI).pathname
Scalar.createApiReference('#app', { url, ...${JSON.stringify(configuration)} })
`
}

/** Returns the page of the API reference. All URLs are relative to /docs/. */
export const referencePage = (style: string, ...scripts: string[]) => `<!doctype html>
<html lang="en">
  <head>
    <title>Waxwing API</title>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <meta name="description" content="Every operation and webhook event of the Waxwing API, with examples.">
    <link rel="icon" href="guides/logo.svg" type="image/svg+xml">
    <link rel="stylesheet" href="${style}">
  </head>
  <body>
    <header class="top">
      <a class="brand" href="./"><img src="guides/logo.svg" alt="" width="28" height="28">Waxwing <span>API reference</span></a>
      <nav aria-label="Waxwing"><a href="guides/">Guides</a><a href="../">Open the app</a></nav>
    </header>
    <div id="app"></div>
${scripts.map((script) => `    <script src="${script}"></script>`).join('\n')}
  </body>
</html>
`
