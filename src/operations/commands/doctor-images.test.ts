import { expect, test } from 'vitest'
import { bucketSettings, startS3 } from '../../../test/support/s3-server.ts'
import { readConfig } from '../../platform/config/config.ts'
import { checkImages } from './doctor-images.ts'

test('doctor stores, reads and deletes an object, and names what the key may not do', async () => {
  await using s3 = await startS3()
  const check = () => checkImages(readConfig(bucketSettings(s3)))
  expect(await check()).toMatchObject({ ok: true, message: `stored in the bucket image-bucket at ${s3.url}` })
  expect([s3.puts.length, s3.objects.size]).toEqual([1, 0])
  for (const [method, step] of [
    ['PUT', 'stored'],
    ['GET', 'read'],
    ['DELETE', 'deleted'],
  ]) {
    s3.intercept = (response, request) => {
      if (request.method === method) response.writeHead(403).end('<Error><Code>AccessDenied</Code></Error>')
      return request.method === method
    }
    const message = expect.stringContaining(`cannot be ${step} (Responded 403: AccessDenied): check the settings`)
    expect(await check()).toMatchObject({ ok: false, message })
  }
  s3.intercept = (response) => {
    response.writeHead(404).end('<Error><Code>NoSuchBucket</Code></Error>')
    return true
  }
  expect(await check()).toMatchObject({ ok: false, message: expect.stringContaining('NoSuchBucket') })
  expect(await checkImages(readConfig({}))).toBeUndefined()
})
