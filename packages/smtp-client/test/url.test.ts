import { expect, test } from 'vitest'
import { InvalidSmtpUrl, parseSmtpUrl } from '../src/url.ts'

test('parses host, port, encryption and credentials', () => {
  expect(parseSmtpUrl('smtp://relay.example.com')).toMatchObject({
    host: 'relay.example.com',
    port: 587,
    tls: 'opportunistic',
    verifyCertificate: false,
    credentials: null,
  })
  expect(parseSmtpUrl('smtps://us%40er:p%2Fa%3As%25s@relay.example.com?name=mail.example.com')).toEqual({
    host: 'relay.example.com',
    port: 465,
    tls: 'implicit',
    verifyCertificate: true,
    credentials: { user: 'us@er', password: 'p/a:s%s' },
    clientName: 'mail.example.com',
  })
  expect(parseSmtpUrl('smtp://[::1]:25')).toMatchObject({ host: '::1', port: 25 })
  expect(parseSmtpUrl('smtp://bücher.example')).toMatchObject({ host: 'xn--bcher-kva.example' })
  expect(parseSmtpUrl('smtps://relay.example.com?tls_verify=false')).toMatchObject({ verifyCertificate: false })
  expect(parseSmtpUrl('smtp://relay.example.com?tls=required')).toMatchObject({
    tls: 'required',
    verifyCertificate: true,
  })
})

test('requires TLS if there is a password, unless the relay is on this machine or tls=off is set', () => {
  const tlsOf = (url: string) => parseSmtpUrl(url).tls
  expect(tlsOf('smtp://u:p@relay.example.com')).toBe('required')
  expect(tlsOf('smtp://u:p@relay.example.com?tls=off')).toBe('off')
  for (const host of ['localhost', '127.0.0.1', '127.1.2.3', '[::1]'])
    expect(tlsOf(`smtp://u:p@${host}`)).toBe('opportunistic')
  for (const host of ['127.0.0.1.example.com', 'localhost.example.com', '10.0.0.1'])
    expect(tlsOf(`smtp://u:p@${host}`)).toBe('required')
})

test('rejects an invalid URL with a message that does not contain the password', () => {
  for (const [url, why] of [
    ['relay.example.com:587', /must start with smtp:\/\//],
    ['', /not a valid URL/],
    ['http://u:hunter2@relay', /must start with smtp:\/\/ or smtps:\/\/, not http:/],
    ['smtp://', /has no host/],
    ['smtp://u:hunter2@relay%', /invalid host/],
    ['smtp://u:hunter2@relay:0', /port 0/],
    ['smtp://u:hunter2@relay:99999', /not a valid URL/],
    ['smtp://u:hunter2@relay/path', /path or a fragment/],
    ['smtp://u:hunter2#x@relay', /path or a fragment|not a valid URL/],
    ['smtp://u@relay', /both a user and a password/],
    ['smtp://:hunter2@relay', /both a user and a password/],
    ['smtp://u:hunter2%@relay', /Write % as %25/],
    ['smtp://u:hunter2%00@relay', /cannot be decoded/],
    ['smtp://u:hunter2@relay?tls=maybe', /"required" or "off"/],
    ['smtp://u:hunter2@relay?tls_verify=no', /true or false/],
    ['smtp://u:hunter2@relay?pool=3', /unknown parameter "pool"/],
    ['smtp://u:hunter2@relay?name=a%20b', /must be a host name/],
    ['smtps://u:hunter2@relay?tls=off', /Use smtp:\/\/ with tls=/],
  ] as const) {
    expect(() => parseSmtpUrl(url), url).toThrow(why)
    expect(() => parseSmtpUrl(url), url).toThrow(InvalidSmtpUrl)
    try {
      parseSmtpUrl(url)
    } catch (error) {
      expect(String(error)).not.toContain('hunter2')
    }
  }
})
