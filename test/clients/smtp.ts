import { execFile, spawnSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { localhost, testCa } from '../support/certificates.ts'
import { blocksOf } from '../support/guide-blocks.ts'
import { type ReceivedEmail, startRelay, type TestRelay } from '../support/relay.ts'
import { startTestApp, type TestApp } from '../support/test-app.ts'
import { until } from '../support/until.ts'

// Python 3, swaks (with libio-socket-ssl-perl), PHPMailer (php-cli, libphp-phpmailer) and Postfix send through
// submission. Packages of Debian: python3 swaks libnet-ssleay-perl libio-socket-ssl-perl php-cli libphp-phpmailer postfix.
// Postfix has to be started as root.

let folder: string
let relay: TestRelay
let app: TestApp
let environment: Record<string, string>

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'waxwing-clients-'))
  chmodSync(folder, 0o755)
  const { cert, key } = localhost()
  for (const [name, text] of [
    ['cert.pem', cert],
    ['key.pem', key],
    ['ca.pem', testCa()],
  ] as const)
    writeFileSync(join(folder, name), text)
  relay = await startRelay()
  app = await startTestApp({
    ...{ SMTP_URL: relay.url, SUBMISSION_HOST: '127.0.0.1', SUBMISSION_PORT: '0', SUBMISSION_TLS_PORT: '0' },
    ...{ SUBMISSION_TLS_CERT_FILE: join(folder, 'cert.pem'), SUBMISSION_TLS_KEY_FILE: join(folder, 'key.pem') },
  })
  const { port, tlsPort } = app.app.submissionPorts()
  environment = {
    ...{ PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', SSL_CERT_FILE: join(folder, 'ca.pem') },
    ...{ SMTP_HOST: 'localhost', SMTP_PORT: String(port), SMTP_TLS_PORT: String(tlsPort), WAXWING_API_KEY: app.apiKey },
  }
})

afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await relay[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

const run = (program: string, ...words: string[]) =>
  promisify(execFile)(program, words, { env: environment, cwd: folder })

async function received(subject: string): Promise<ReceivedEmail> {
  const find = () => relay.mails.find(({ mail }) => mail.subject === subject)
  await until(`the email “${subject}”`, find)
  return find()!
}

function python(code: string) {
  const file = join(folder, 'program.py')
  writeFileSync(file, code)
  return run('python3', file)
}

test('the Python program of the guide', async () => {
  const [block] = blocksOf('smtp').filter(({ language }) => language === 'python')
  await python(block!.code)
  expect((await received('Your invoice')).mail).toMatchObject({
    from: { name: 'Acme', address: 'hello@acme.example' },
    to: [{ name: 'Ada', address: 'ada@example.com' }],
    text: 'Please find your invoice attached.\n',
  })
})

test('Python with TLS from the start, HTML, an attachment, Bcc and an address in Unicode', async () => {
  const { stdout } = await python(`
import os, smtplib, ssl
from email.message import EmailMessage
email = EmailMessage()
email['From'] = 'Zoë <zoe@acme.example>'
email['To'] = 'ada@example.com'
email['Bcc'] = 'secret@bücher.example'
email['Subject'] = 'Grüße aus Python'
email.set_content('Grüße', cte='8bit')
email.add_alternative('<p>Grüße <a href="https://acme.example">x</a></p>', subtype='html')
email.add_attachment(bytes(range(256)), maintype='application', subtype='octet-stream', filename='März.bin')
with smtplib.SMTP_SSL(os.environ['SMTP_HOST'], int(os.environ['SMTP_TLS_PORT'])) as server:
    server.login('anything', os.environ['WAXWING_API_KEY'])
    print(server.send_message(email, to_addrs=['ada@example.com', 'secret@xn--bcher-kva.example']))
    try:
        server.sendmail('x@acme.example', ['not an address'], b'From: x@acme.example')
    except smtplib.SMTPRecipientsRefused as error:
        print(list(error.recipients.values())[0][0])
`)
  expect(stdout).toBe('{}\n501\n')
  const mails = await until('both emails', () => {
    const found = relay.mails.filter(({ mail }) => mail.subject === 'Grüße aus Python')
    return found.length === 2 ? found : undefined
  })
  expect(mails.map(({ recipient }) => recipient).sort()).toEqual(['ada@example.com', 'secret@bücher.example'])
  for (const { raw, mail } of mails) {
    expect(raw).not.toContain('secret')
    expect(mail).toMatchObject({
      from: { name: 'Zoë' },
      text: expect.stringMatching(/^Grüße\s+$/),
      attachments: [{ filename: 'März.bin' }],
    })
    expect(new Uint8Array(mail.attachments[0]!.content as ArrayBuffer)).toEqual(new Uint8Array(256).map((_, at) => at))
  }
})

test('Python with a wrong key gets 535', async () => {
  const { stdout } = await python(`
import os, smtplib
with smtplib.SMTP(os.environ['SMTP_HOST'], int(os.environ['SMTP_PORT'])) as server:
    server.starttls()
    try:
        server.login('waxwing', 'wxk_wrong')
    except smtplib.SMTPAuthenticationError as error:
        print(error.smtp_code, error.smtp_error.decode())
`)
  expect(stdout).toMatch(/^535 5\.7\.8 /)
})

test('swaks, as in the guide', async () => {
  const [block] = blocksOf('smtp').filter(({ code }) => code.startsWith('swaks'))
  const { stdout } = await run('bash', '-c', block!.code)
  expect(stdout).toMatch(/250 2\.6\.0 Queued as msg_/)
  expect((await received('Hello')).recipient).toBe('ada@example.com')
})

test('swaks with an attachment over TLS from the start, and headers for Waxwing', async () => {
  writeFileSync(join(folder, 'report.csv'), 'a,b\r\n1,2\r\n')
  const { stdout } = await run(
    ...(['swaks', '--server', `localhost:${environment.SMTP_TLS_PORT}`, '--tls-on-connect'] as const),
    ...['--auth', 'LOGIN', '--auth-user', 'waxwing', '--auth-password', app.apiKey],
    ...['--from', 'hello@acme.example', '--to', 'ada@example.com,bob@example.com'],
    ...['--header', 'Subject: Report', '--header', 'X-Waxwing-Tags: report=weekly'],
    ...['--attach-type', 'text/csv', '--attach', '@report.csv'],
  )
  expect([...stdout.matchAll(/Queued as msg_/g)]).toHaveLength(2)
  const { raw, mail } = await received('Report')
  expect(raw).not.toContain('X-Waxwing')
  expect(Buffer.from(mail.attachments[0]!.content as ArrayBuffer).toString()).toBe('a,b\r\n1,2\r\n')
})

test('PHPMailer, which WordPress uses', async () => {
  const file = join(folder, 'send.php')
  writeFileSync(
    file,
    `<?php
require '/usr/share/php/libphp-phpmailer/autoload.php';
$mail = new PHPMailer\\PHPMailer\\PHPMailer(true);
$mail->isSMTP();
$mail->Host = getenv('SMTP_HOST');
$mail->Port = getenv('SMTP_PORT');
$mail->SMTPAuth = true;
$mail->SMTPSecure = 'tls';
$mail->SMTPOptions = ['ssl' => ['cafile' => getenv('SSL_CERT_FILE')]];
$mail->Username = 'waxwing';
$mail->Password = getenv('WAXWING_API_KEY');
$mail->CharSet = 'UTF-8';
$mail->setFrom('hello@acme.example', 'Größe');
$mail->addAddress('ada@example.com', 'Ada');
$mail->addBCC('secret@example.com');
$mail->Subject = 'From PHP ✓';
$mail->isHTML(true);
$mail->Body = '<p>Grüße</p>';
$mail->AltBody = 'Grüße';
$mail->addStringAttachment('content', 'file.txt');
$mail->send();
echo 'sent';
`,
  )
  expect((await run('php', file)).stdout).toBe('sent')
  const { mail, raw } = await received('From PHP ✓')
  expect(mail).toMatchObject({
    from: { name: 'Größe' },
    html: expect.stringMatching(/^<p>Grüße<\/p>\s+$/),
    attachments: [{ filename: 'file.txt' }],
  })
  expect(raw).not.toContain('secret')
})

/** Starts a Postfix of its own with the lines of the guide. */
async function startPostfix() {
  const configuration = join(folder, 'postfix')
  const [queue, data] = [join(folder, 'queue'), join(folder, 'data')] as const
  for (const each of [configuration, queue, data]) mkdirSync(each)
  cpSync('/etc/postfix/dynamicmaps.cf', join(configuration, 'dynamicmaps.cf'))
  // Only the programs that send: it listens on no port.
  const master = readFileSync('/etc/postfix/master.cf', 'utf8')
    .replace(/^smtp +inet.*$/m, '')
    .replace(/^((?:\S+ +){4})y /gm, '$1n ')
  writeFileSync(join(configuration, 'master.cf'), master)
  const sasl = join(configuration, 'sasl')
  writeFileSync(sasl, `[localhost]:${environment.SMTP_PORT} waxwing:${app.apiKey}\n`)
  const [block] = blocksOf('smtp').filter(({ code }) => code.startsWith('relayhost'))
  const lines = block!.code
    .replace('[mail.example.com]:587', `[localhost]:${environment.SMTP_PORT}`)
    .replace('/etc/postfix/sasl', sasl)
  const own = [
    'compatibility_level = 3.6',
    'myhostname = client.acme.example',
    'mydestination =',
    `queue_directory = ${queue}`,
    `data_directory = ${data}`,
    'inet_protocols = ipv4',
    'inet_interfaces = loopback-only',
    'smtp_host_lookup = native',
    'alias_maps =',
    `smtp_tls_CAfile = ${join(folder, 'ca.pem')}`,
    `maillog_file_prefixes = ${folder}`,
    `maillog_file = ${folder}/maillog`,
  ]
  writeFileSync(join(configuration, 'main.cf'), `${own.join('\n')}\n${lines}\n`)
  await run('chown', 'postfix', data)
  await run('postmap', '-c', configuration, `hash:${sasl}`)
  const postfix = (command: string) => run('postfix', '-c', configuration, command)
  await postfix('check')
  await postfix('start')
  return { configuration, [Symbol.asyncDispose]: async () => void (await postfix('stop')) }
}

test('Postfix sends everything through Waxwing', async () => {
  await using postfix = await startPostfix()
  const email = 'From: Cron <cron@acme.example>\nTo: ada@example.com\nSubject: From Postfix\n\nHello\n.\nBye\n'
  const sent = spawnSync(
    'sendmail',
    ['-C', postfix.configuration, '-i', '-f', 'cron@acme.example', 'ada@example.com', 'bob@example.com'],
    { input: email, encoding: 'utf8', env: environment },
  )
  expect(sent.stderr).toBe('')
  const mails = await until('both emails', () => {
    const found = relay.mails.filter(({ mail }) => mail.subject === 'From Postfix')
    return found.length === 2 ? found : undefined
  }).catch((error: unknown) => {
    throw new Error(readFileSync(join(folder, 'maillog'), 'utf8'), { cause: error })
  })
  expect(mails.map(({ recipient }) => recipient).sort()).toEqual(['ada@example.com', 'bob@example.com'])
  expect(mails[0]!.mail.text).toBe('Hello\n.\nBye\n')
  expect(mails[0]!.raw).not.toMatch(/^Received:/m)
})
