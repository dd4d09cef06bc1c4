/** Where the app is mounted, with a slash at the end: the service writes it into `<base href>`. */
export const basePath = new URL(document.baseURI).pathname

/** The address of the service as people paste it into programs, without a slash at the end. */
export const baseUrl = `${window.location.origin}${basePath}`.replace(/\/$/, '')
