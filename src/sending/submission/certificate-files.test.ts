import { renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { elsewhere, localhost } from '../../../test/support/certificates.ts'
import { newFolder } from '../../../test/support/command.ts'
import { readConfig } from '../../platform/config/config.ts'
import { submissionTlsOf } from '../../platform/config/setting-files.ts'
import { watchCertificate } from './certificate-files.ts'

test('a replaced certificate is returned once, and only together with its key', () => {
  using folder = newFolder()
  const [SUBMISSION_TLS_CERT_FILE, SUBMISSION_TLS_KEY_FILE] = ['cert.pem', 'key.pem'].map((name) =>
    join(folder.path, name),
  )
  const files = [SUBMISSION_TLS_CERT_FILE!, SUBMISSION_TLS_KEY_FILE!]
  writeFileSync(files[0]!, localhost().cert)
  writeFileSync(files[1]!, localhost().key)
  const config = readConfig({ SUBMISSION_TLS_CERT_FILE, SUBMISSION_TLS_KEY_FILE })
  const problems: unknown[] = []
  const renewed = watchCertificate(
    files,
    () => submissionTlsOf(config)!,
    (error) => problems.push(error),
    0,
  )
  expect(renewed()).toBeUndefined()

  writeFileSync(files[0]!, elsewhere().cert)
  expect([renewed(), renewed()]).toEqual([undefined, undefined])
  expect(problems).toHaveLength(1)
  writeFileSync(files[1]!, elsewhere().key)
  expect(renewed()).toEqual(elsewhere())
  expect(renewed()).toBeUndefined()

  // As Kubernetes replaces files: by another link.
  for (const [at, content] of [localhost().cert, localhost().key].entries()) {
    writeFileSync(join(folder.path, `next-${at}`), content)
    symlinkSync(join(folder.path, `next-${at}`), join(folder.path, `link-${at}`))
    renameSync(join(folder.path, `link-${at}`), files[at]!)
  }
  expect(renewed()).toEqual(localhost())
  expect(problems).toHaveLength(1)
})
