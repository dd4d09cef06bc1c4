import { type PhraseRule, phraseList } from './phrase-list.ts'

/** The mailbox is there, but not now, or not for this. */
export const mailboxRules: readonly PhraseRule[] = [
  {
    reason: 'mailbox_full',
    phrases: phraseList(`
      mailbox full, mailbox is full, mailbox * is full, mail box full, mail box is full, inbox is full, inbox full,
      account is full, folder is full, user is full, full mailbox, mail spool * full, storage full,
      mailbox exceed, mailbox has exceeded, mailbox * exceeded, mailbox size limit, mailbox quota, mailbox too large,
      mailbox too full, mailbox would exceed, mailbox over, maildir over, over quota, overquota, over * quota,
      quota exceed, quota has been exceeded, quota is exceeded, quota violation, exceeded * quota, exceeds * quota,
      exceed * quota, exceeding * quota, quota full, quota is full, disk quota, disc quota, storage quota,
      insufficient disk space, insufficient storage, insufficient system storage, out of storage space,
      not enough storage space, not enough space, not enough disk space, no space left in mailbox, no storage space,
      exceeded storage allocation, storage * exceeded, exceeds allowed size, exceeded the space, exceeds the space,
      too many messages in mailbox, too many messages on this mailbox,
      postfach * voll, mailbox * voll, postfach überfüllt, boîte * pleine, boite * pleine, quota dépassé,
      casella * piena, spazio * esaurito, buzón * lleno, buzon * lleno, cuota excedida, caixa * cheia, postvak * vol,
      skrzynka * pełna, переполнен, превышена квота, メールボックスがいっぱい, メールボックスの容量, 容量を超え,
      邮箱已满, 邮箱空间不足, 郵件已滿`),
  },
  {
    reason: 'mailbox_suspended',
    phrases: phraseList(`
      account * disabled, account * inactive, account * suspended, account * locked, account * blocked,
      account * expired, account * deactivated, account * discontinued, account * not active, account * closed,
      account is temporarily, account is unavailable, account not activated,
      mailbox * disabled, mailbox * inactive, mailbox * suspended, mailbox * locked, mailbox * frozen,
      mailbox * expired, mailbox currently, mailbox temporarily,
      user * disabled, user * inactive, user * suspended, user * locked, user is blocked,
      recipient * disabled, recipient * inactive, recipient * suspended, domain * suspended, service is suspended,
      inactive user, inactive account, inactive mailbox, disabled user, disabled account, disabled mailbox,
      blocked mailbox, temporarily suspended, temporary suspended, not been used for a long, invalid/inactive,
      boite du destinataire archiv, boîte * inactive, konto gesperrt, postfach gesperrt, заблокирован`),
  },
  {
    reason: 'message_too_big',
    phrases: phraseList(`
      message too big, message too large, message is too big, message is too large, message size exceed,
      message size * exceed, message * exceeds * size, message exceed, message larger than, message length exceed,
      message file too big, size limit exceeded, size * exceeds * limit, exceeds * maximum message size,
      exceed * maximum message size, exceeded * maximum message size, exceeds fixed maximum, exceeded * size limit,
      exceeds * size limit, maximum message size, max message size, mail size limit, data size exceed, recipsizelimit,
      nachricht * zu gross, nachricht * zu groß, message trop volumineux, messaggio troppo grande,
      mensaje demasiado grande`),
  },
  {
    reason: 'recipient_refused',
    phrases: phraseList(`
      recipient preferences, recipients preferences, privacy settings, does not wish to receive, not want to receive,
      refused by recipient`),
  },
]

/** We are blamed, or what we sent, or how. */
export const senderRules: readonly PhraseRule[] = [
  {
    reason: 'rate_limited',
    phrases: phraseList(`
      too many connections, too many concurrent, too many simultaneous, too many sessions, too many messages,
      too many recipients, too many errors, too many emails, too many mails, too much mail, too frequent, too fast,
      at a rate that, rate limit, ratelimit, rate exceeded, rate is too high, sending rate, message rate,
      connection rate, connections from your host, exceeded the maximum number of, exceeded the rate, exceeded max,
      exceeded * limit * messages, exceeded * maximum * connections, exceeds maximum connection,
      limit exceeded * messages, sending limit, daily limit, hourly limit, relay quota, connection limit,
      concurrency limit, throttl, number of connections, slow down, frequency limit, temporarily deferred, unusual rate`),
  },
  {
    reason: 'authentication',
    phrases: phraseList(`
      dmarc, spf check, spf fail, spf hard fail, spf softfail, spf validation, spf record, spf unauthorized,
      spf verification, failed spf, fails spf, sender policy framework, rejected by spf, denied by spf, dkim,
      authentication checks failed, authentication check, authentication results, unauthenticated email,
      unauthenticated mail, is not authenticated, not authenticated, sender is unauthenticated, lack of authentication,
      arc validation, does not pass * authentication, did not pass authentication, sender id (pra),
      is not allowed to send mail from, is not authorized to send, not authorized to send on behalf,
      is not permitted to send, not allowed to send * from`),
  },
  {
    reason: 'relaying_denied',
    phrases: phraseList(`
      relay access, relaying denied, relaying not, relaying is, relay denied, relay not permitted, relay not allowed,
      relay operation rejected, unable to relay, cannot relay, can not relay, not permitted to relay,
      not allowed to relay, relay prohibited, not relaying, we do not relay, no relaying, insecure mail relay,
      mail server requires authentication, authentication required, rcpthosts, isnt in my list of allowed,
      not a permitted relay, not configured to relay, not a gateway, smtp relay error`),
  },
  {
    reason: 'blocked',
    phrases: phraseList(`
      reverse dns, rdns, ptr record, reverse hostname, reverse lookup, reverse address, cannot find your hostname,
      cannot find your reverse, no ptr, missing ptr, invalid ptr, ptr not found, dns ptr, client host rejected,
      client host * blocked, client host * blacklisted, client host * listed, client * blocked using, helo, ehlo,
      blocked using, blocked by, blocked for, blocked due, blocked because, been blocked, is blocked, was blocked,
      are blocked, is currently blocked, temporarily blocked, blocklist, block list, blacklist, black list, blackhole,
      black hole, denylist, deny list, dnsbl, rbl, spamhaus, spamcop, sorbs, barracudacentral,
      mail abuse prevention, open relay, open proxy, your ip, ip address * rejected, ip address * denied,
      ip * is listed, sending ip, reputation, senderbase, connection dropped, connection rejected,
      connections from * not accepted, connections not accepted, connections will not be accepted,
      no access from mail server, not accepting mail from, not accept mail from, not accept email from,
      refused mail from, refused to talk to me, refuses to talk, mismatches client ip, dynamic ip, dynamic address,
      dialup, dial up, residential, generic hostname, dynamic/zombied, is listed, been listed, greylist, graylist,
      grey list, part of their network, network * rejected, unverifyable, banned, access denied`),
  },
  { reason: 'virus', phrases: phraseList('virus, malware, infected, trojan, phishing, malicious') },
  {
    reason: 'spam',
    phrases: phraseList(`
      spam, junk mail, bulk mail, unsolicited, looks like uce, content filter, low word count, message appears to be,
      mail appears to be, classified as, message was scored, rejected by * filter, high probability,
      unwanted content`),
  },
  {
    reason: 'security',
    phrases: phraseList(`
      starttls, tls, ssl, certificate, encryption, mta sts, authentication failed, authentication failure,
      authentication turned on, authentication credentials, must authenticate, password, security reasons,
      security policy, verification failure, verify failed`),
  },
  {
    reason: 'sender_refused',
    phrases: phraseList(`
      sender address, sender rejected, sender denied, sender refused, sender verify, sender verification,
      sender domain, sender unknown, sender not, sender is not, sender mailbox, sender does not exist,
      sender * not allowed, bad sender, invalid sender, unknown sender, unacceptable sender, illegal sender,
      unresolvable sender, unable to verify sender, from address, of sender, your domain, envelope sender,
      envelope from, mail from domain, backscatter, null sender, empty envelope, not a member, not member,
      not subscribed, not a subscriber, permission to post, not have permission, only accepts mail, only accept mail,
      only members, not a registered gateway user`),
  },
  {
    reason: 'policy',
    phrases: phraseList(`
      policy, policies, local rules, prohibited, administratively, administrative, transport rules, transport.rules,
      by rule, not permitted, not allowed, unauthorized, not authorized, not authorised, unacceptable, violat,
      disallowed, denied by`),
  },
  {
    reason: 'content',
    phrases: phraseList(`
      content reject, message content, content not, banned attachment, attachment type, attachment * not,
      attachments are, invalid header, missing header, missing * header, header * missing, duplicate header,
      malformed header, headers too large, from: header, mime error, mime header, mime part, improper use of 8 bit, charset,
      malformed message, bare lf, bare newline, line too long, rfc 5322, rfc5322, rfc 2822, rfc2822, rfc compliant,
      not rfc, conversion, suspicious characters, multiple addresses in`),
  },
]

/** Neither the address nor us: time, network and systems. The vaguest words come last. */
export const otherRules: readonly PhraseRule[] = [
  {
    reason: 'expired',
    phrases: phraseList(`
      retry timeout, retry time not reached, expired, been in the queue too long, queue too long, too long in queue,
      queue lifetime, could not be delivered for, could not deliver for, could not be delivered within, not delivered within,
      has not yet been delivered, has been delayed, delivery is delayed, unable to deliver in, delivery failed * attempts, will be retried,
      will keep trying, undelivered for, not be delivered after, timeout exceeded`),
  },
  {
    reason: 'network',
    phrases: phraseList(`
      timed out, timeout, connection refused, connection reset, connection lost, connection closed, connection failed,
      connection was dropped, lost connection, could not connect, couldnt connect, establish an smtp connection,
      unable to connect, unable to contact, did not accept our requests to connect, did not respond, no route to host,
      unreachable, network error, socket error, broken pipe, mail loop, mail forwarding loop, routing loop,
      message loop, loops back, loop detected, too many hops, too many received, hop count, hops exceeded,
      host name lookup failure, name service error, name server, name lookup failure, temporary lookup failure,
      dns error, dns query failed, dns failure, dns lookup, mx * points to`),
  },
  {
    reason: 'protocol',
    phrases: phraseList(`
      syntax error, bad command, command not, command rejected, unrecognized command, malformed address, bad sequence,
      protocol error, not implemented, argument rejected, improper command pipelining`),
  },
  {
    reason: 'system',
    phrases: phraseList(`
      system error, internal error, server error, internal server, configuration error, server misconfig,
      temporary failure, temporary error, resources temporarily unavailable, resource temporarily unavailable,
      service unavailable, service not available, service currently unavailable, could not be processed, local error,
      procmail, command failed, mailer error, cant create output, cannot open, permission denied, unable to create,
      transaction failed, queue file write error, forwarding loop, input/output error, several matches found`),
  },
  {
    reason: 'user_unknown',
    phrases: phraseList('recipient address rejected, recipient rejected, recipient refused, address rejected'),
  },
  { reason: 'filtered', phrases: phraseList('filtered, is not accepting, refused, rejected') },
]
