import { expect, test } from 'vitest'
import { classifyReply } from '../src/classify-reply.ts'

// Replies to RCPT from the public documentation and error lists of mail systems, and paraphrases in other languages.
const wordings: Record<string, string[]> = {
  'hard user_unknown': [
    '550 User is unknown',
    '550 Benutzer nicht bekannt/User unknown',
    '550 Unknown local part ada in <ada@example.de>',
    '550 MAILBOX NOT FOUND',
    "554 delivery error: dd This user doesn't have a yahoo.de account",
    '550 RCPT TO:<ada@example.com> User unknown',
    '550 invalid address',
    '554 Sorry, no mailbox here by that name. (#5.1.1)',
    '550 There is no such active account.',
    '550 5.1.1 RESOLVER.ADR.ExRecipNotFound; not found',
    '550 RC:LD The email account that you tried to reach does not exist',
    '551 5.1.1 recipient is not exist',
    '550 abcd:user not exist',
    '550 5.1.1 Bad destination mailbox address',
    '550 #2175041 unavailable mail user',
    "550 local server don't exists that user",
    '550 not user of this server',
    '550 This address no longer accepts mail.',
    '550 Message was not accepted -- invalid mailbox. Local mailbox ada@example.com is unavailable: user is terminated',
    '550 5.1.1 unknown or illegal alias: ada@example.com',
    '550 5.1.1 Not our Customer',
    '550 cuda_nsu <ada@example.com>: No such user',
    '550 Email address could not be found, or was misspelled (G8)',
    '550 5.2.0 No such mailbox',
    '554 5.7.1 <ada@example.com>: Recipient address rejected: User unknown',
    '550 that account has been deleted',
    "550 Please check the recipient's e-mail address and send again",
    '550 Try double-checking the recipient’s email address for typos',
    '550 Empfängeradresse existiert nicht',
    '550 Adresse inconnue',
    "550 Cette adresse n'existe pas",
    '550 Buzón no encontrado',
    '550 Usuário não encontrado',
    '550 Casella inesistente',
    '550 Ontvanger niet gevonden',
    '550 Nieznany użytkownik',
    '550 Почтовый ящик не существует',
    '550 Неверный получатель',
    '550 該当するユーザーは登録されていません',
    '550 该用户未开通QQ邮箱',
    '550 該用戶不存在',
  ],
  'hard host_unknown': [
    '550 unrouteable address',
    '550 domain example.com does not exist',
    '550 Host unknown',
    '550 5.4.4 SMTPSEND.DNS.NonExistentDomain; nonexistent domain',
    "550 5.1.2 bad destination host 'DNS Hard Error looking up example.com (MX): NXDomain'",
    'all relevant MX records point to non-existent hosts',
    "Sorry, I couldn't find any host named example.com. (#5.1.2)",
  ],
  'hard mail_not_accepted': [
    '550 5.7.27 Host does not accept mail',
    '521 5.3.2 example.com does not accept mail',
    'an MX or SRV record indicated no SMTP service',
  ],
  'soft mailbox_full': [
    '550 5.1.1 mailbox is full',
    '550 Benutzer hat das Speichervolumen ueberschritten. / User has exhausted allowed storage space.',
    '552 Requested mail action aborted: exceeded storage allocation',
    '550 5.1.1 La boîte de réception du destinataire est pleine',
    '550 El buzón está lleno',
    '550 La casella del destinatario è piena',
    '550 Skrzynka odbiorcy jest przepełniona',
    '550 Почтовый ящик переполнен',
    '550 收件人空间不足',
  ],
  'soft mailbox_suspended': [
    '550 Mailbox is frozen',
    '550 [SUSPEND] Mailbox currently suspended - Please contact correspondant directly (#5.1.1)',
    '550 User disabled',
    '550 Mailaddress is administrativly disabled. (LDAP-ERR #220)',
  ],
  'soft rate_limited': [
    '550 Domain frequency limited',
    '550 Mailbox unavailable or access denied',
    '550 5.4.5 Daily user sending limit exceeded',
    '554 5.1.1 too many invalid recipients from your host',
  ],
  'soft blocked': [
    '550 5.1.1 Rejected, see http://www.spamhaus.org/query/bl?ip=192.0.2.1',
    '550 5.1.1 Message refused. See https://ipcheck.proofpoint.com/?ip=192.0.2.1',
    '550 5.1.1 http://bl.spamcop.net/bl.shtml?192.0.2.1',
    '550 5.1.1 User unknown, your IP 192.0.2.1 is listed at zen.spamhaus.org',
    '554 Refused. Your reverse DNS entry contains your IP address and a country code.',
    '550 5.7.1 HELO command rejected: Host not found',
  ],
  'soft authentication': ['550 DMARC check failed', '550 5.1.1 SPF check failed', '550 5.7.1 DKIM signature invalid'],
  'soft relaying_denied': [
    "5.1.0 - Unknown address error 550-'<ada@example.com>... Relaying denied'",
    '550 Delivery is not allowed to this address',
    '550 5.7.54 SMTP; Unable to relay recipient in non-accepted domain',
  ],
  'soft sender_refused': [
    '550 5.1.1 Sender verify failed',
    '550 Verification failed for <bob@sender.example> unrouteable address Sender verify failed',
    '550 5.1.2 Unresolvable sender domain',
    '550 5.1.0 invalid sender domain',
    '550 Absender unbekannt',
    '550 Expéditeur inconnu',
  ],
  'soft recipient_refused': [
    '550 Mail is rejected by recipients',
    "550 5.1.1 Rejected by recipient's filter",
    '550 The recipient has blocked mail from you',
  ],
  'soft network': [
    '550 5.4.4 Temporary failure in name resolution',
    '550 5.4.4 DNS server failure looking up example.com',
    '550 5.4.4 name server timeout',
    '550 Connection timed out. Please check if the address is correct.',
    '554 5.4.0 mail for example.com loops back to myself',
  ],
}

const cases = Object.entries(wordings).flatMap(([verdict, texts]) => texts.map((text) => [text, verdict] as const))

test.each(cases)('“%s” is %s', (text, verdict) => {
  const { kind, reason } = classifyReply({ text })
  expect(`${kind} ${reason}`).toBe(verdict)
})

test.each(wordings['hard user_unknown']!)('“%s” is soft with a temporary code', (text) => {
  expect(classifyReply({ text, replyCode: 450, status: '4.1.1' }).kind).toBe('soft')
})
