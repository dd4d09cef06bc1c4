/** The base path of the app, with a trailing slash. The server writes it into `<base href>`. */
export const basePath = new URL(document.baseURI).pathname

/** The base URL for API calls, without a trailing slash. */
export const baseUrl = `${window.location.origin}${basePath}`.replace(/\/$/, '')
