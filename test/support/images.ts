import { expect } from 'vitest'
import type { TestApp } from './test-app.ts'

export const uploadImage = ({ call, session }: TestApp, bytes: Uint8Array, type = 'image/png', query = '') =>
  call('POST', `/api/v1/organization/images${query}`, {
    headers: { authorization: `Bearer ${session}`, 'content-type': type },
    raw: bytes,
  })

/** Uploads a PNG and returns its record. */
export async function addImage(
  app: TestApp,
  bytes: Uint8Array,
): Promise<{ id: string; url: string; size_bytes: number }> {
  const { status, body, text } = await uploadImage(app, bytes)
  expect(status, text).toBe(201)
  return body.data
}

const pathOf = (url: string) => new URL(url).pathname

/** The last part of the address. */
export const fileOf = (url: string) => pathOf(url).slice('/i/'.length)

/** Returns the image as readers get it. */
export async function downloadImage(app: TestApp, url: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${app.url}${pathOf(url)}`, { headers })
  return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) }
}
