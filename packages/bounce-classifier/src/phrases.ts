import { type PhraseRule, phraseList } from './phrase-list.ts'

/**
 * The wordings of mail systems, by meaning, in the form of short fragments. Rules with a `source` quote public documentation or
 * source code. The other wordings are paraphrases of common replies in several languages; some were first seen in the mails
 * that the README measures, which is why it gives a lower bound of the accuracy without them.
 *
 * The first rule with a matching phrase decides, so wordings that blame the state of the mailbox, the sender or the content
 * come before those that blame the address: a wrong "hard" loses a reader, a wrong "soft" costs one more mail.
 */
export const phraseRules: readonly PhraseRule[] = [
  // The result of a directory lookup. It concerns the address in whichever context it is quoted.
  {
    reason: 'user_unknown',
    sure: true,
    phrases: phraseList(`
      not listed in * name & address book|domino|directory|address book, not found in * directory|address book,
      not in * directory|validrcptto, annuaire domino, directorio de domino,
      im domino, nel domino, nicht im öffentlichen, domino verzeichnis, domino ディレクトリ,
      invalid final delivery userid, unknown recipient or mailbox unavailable, recipient name is not recognized, unknown user:,
      other recipients in the same domain, mail action aborted * mailbox not found, mailbox no longer exists,
      宛先不明, あて先不明, 宛先が見つかりません, あて先が見つかりません, 存在しないアドレス, が存在しません,
      收件人不存在, 收件人地址不存在, 邮箱不存在, 用户不存在, 帐号不存在, 账号不存在`),
  },

  {
    reason: 'user_unknown',
    sure: true,
    source: 'Microsoft: Email non-delivery reports and SMTP errors in Exchange Online',
    phrases: phraseList('recipnotfound, recipientnotfound, recipient address rejected: access denied'),
  },
  {
    reason: 'user_unknown',
    sure: true,
    source: 'Gmail: notice "Address not found"',
    phrases: phraseList('address|account * couldnt be found|could not be found|wasnt found at'),
  },
  {
    reason: 'user_unknown',
    sure: true,
    source: 'Yahoo: Email sent to Yahoo Mail addresses is rejected',
    phrases: phraseList('delivery error: dd * user doesnt have'),
  },
  {
    reason: 'user_unknown',
    sure: true,
    source: 'qmail-local; Postfix: LOCAL_RECIPIENT_README',
    phrases: phraseList('no mailbox * by that name, unknown in * table'),
  },
  {
    reason: 'user_unknown',
    sure: true,
    source: 'Plesk: Mail to nonexistent users',
    phrases: phraseList('address no longer accepts mail'),
  },
  // cPanel's last router for remote domains writes this after the lookup of the domain found no mail server.
  { reason: 'host_unknown', phrases: phraseList('account or domain may not exist') },
  { reason: 'mail_not_accepted', source: 'RFC 3463, X.3.2', phrases: phraseList('not accepting network messages') },

  { reason: 'rate_limited', phrases: phraseList('sending|sender * limit|quota') },

  // The mailbox exists, but cannot accept this mail now.
  {
    reason: 'mailbox_full',
    phrases: phraseList(`
      {box} * full, full mailbox, {box} * exceed|too large|over its|over the|size limit|would exceed,
      over * quota, overquota, quota * exceed|full|violation|limit|reached, exceed * quota|storage|space, out of * quota|storage|space,
      beyond * quota, disk|disc|storage|mailbox * quota, insufficient * storage|space, not enough * space|storage, no * space left|storage space,
      storage * exceed|limit, mailbox * has no space, mailbox space, allowed storage, exceeds allowed size, too many messages (in|on) * mailbox,
      user has too many messages, too much mail data, too much mail in,
      ist voll, ist überfüllt, speichervolumen, exhausted allowed storage, exceeded storage, est pleine, está lleno, está llena, è piena, está cheia, is vol, przepełnion, 空間不足,
      postfach|mailbox * voll|überfüllt, speicherplatz * erschöpft, kontingent * überschritten, boîte|boite * pleine|saturée, quota dépassé,
      casella * piena, spazio * esaurito, superato * quota, buzón|buzon * lleno, cuota * excedida|superada, caixa * cheia, quota excedida,
      postvak * vol, skrzynka * pełna, переполнен, превышена квота, いっぱい, 一杯, 容量, 已满, 已滿, 空间不足, 용량이 초과, 가득`),
  },
  {
    reason: 'mailbox_suspended',
    temporary: true,
    phrases: phraseList(`
      account|user|mailbox|recipient|address * {paused}, {paused} * user|account|mailbox|recipient, domain * suspended|parked,
      service is suspended, not currently accepting, currently not accepting, temporary suspended, temporarily (suspended|disabled|limited),
      vacation hold, unpaid, konto|postfach * gesperrt, compte * bloqué|suspendu, cuenta * suspendida|bloqueada, conta * suspensa|bloqueada,
      account * sospeso|bloccato, konto * zablokowane|zawieszone, account * geblokkeerd, заблокирован, приостановлен, 冻结, 凍結, 一時停止`),
  },
  {
    reason: 'mailbox_suspended',
    phrases: phraseList(`
      {who} * {closed}, {closed} * user|account|mailbox|recipient, mailbox|user|recipient|account * not accepting, has been disabled,
      not been used for, not been logged in, administratively|administrative * disabled|locked, receiving disabled,
      mailaddress * disabled|blocked, account is unavailable, invalid/inactive, is not active,
      destinataire archiv, boîte * inactive|désactivée, konto|postfach * deaktiviert, cuenta * desactivada|inactiva, conta * desativada|inativa,
      casella * disattivata|disabilitata, konto * nieaktywne, отключен, неактив, 停用, 禁用, 無効になって`),
  },
  {
    reason: 'message_too_big',
    phrases: phraseList(`
      {mail} * too big|too large|too long|larger than|exceeds|oversize, message (size|length|file) * exceed|too, size limit, size * exceed,
      exceed * size|fixed maximum|maximum message, maximum|max * message size, larger than the maximum, too big for, recipsizelimit,
      data size exceed, message header size, nachricht * zu gross|zu groß, message trop volumineux, messaggio troppo grande, mensaje demasiado grande,
      mensagem muito grande, メールサイズ, 邮件过大`),
  },
  {
    reason: 'recipient_refused',
    phrases: phraseList(`
      rejected by recipients, recipient * blocked mail from, recipients filter, recipient|recipients * preferences, user preferences, privacy settings, not wish to receive, not want to receive, refused by * recipient`),
  },

  // The sender, the sending server or the message is refused.
  {
    reason: 'rate_limited',
    phrases: phraseList(`
      too many * connections|concurrent|simultaneous|sessions|messages|recipients|errors|emails|mail|rcpt|invalid|unknown|hosts,
      too much mail, too frequent, too fast, too quickly, at a rate that, rate * limit|exceeded|too high, ratelimit, unusual rate,
      sending|message|connection|mail * rate, connections from your host, number of * connections|messages|recipients, exceeded * limit|max|rate|number,
      limit exceeded, sending|daily|hourly|relay|connection|concurrency|frequency * limit, relay quota, maximum connection, throttl, slow down,
      mailbox unavailable or access denied, temporarily deferred, excessive, per (hour|minute|day), frequency, over the limit, try again later * limit,
      频率, 频次, レート制限`),
  },
  {
    reason: 'authentication',
    phrases: phraseList(`
      dmarc, spf, sender policy framework, dkim, domainkeys, arc validation, authentication (check|results), unauthenticated,
      not authenticated, lack of authentication, not pass * authentication, (failed|fails) authentication, sender id,
      not (allowed|authorized|permitted) to send * from|on behalf, is not authorized to send, is not permitted to send,
      domain policy, does not designate, not designated, domain authentication, authenticate with at least, requires that the sender authenticate`),
  },
  {
    reason: 'relaying_denied',
    phrases: phraseList(`
      relay * access|denied|not|prohibited|rejected|error, relaying, unable to relay, cannot relay, can not relay, not * to relay, we do not relay,
      insecure mail relay, authentication required, requires authentication, rcpthosts, isnt in my list of allowed,
      not a permitted relay, not a gateway, delivery is not allowed to this address`),
  },
  {
    reason: 'blocked',
    phrases: phraseList(`
      reverse (dns|hostname|lookup|address), dns reverse, rdns, ptr, domain name pointer, fcrdns, forward confirmed, cannot find your,
      resolve your hostname, resolvable hostname, invalid hostname, generic hostname, client host, helo, ehlo,
      blocked, block list, block listed, blocklist, blacklist, black list, blackhole, black hole, denylist, deny list, dnsbl, rbl, surbl, uribl,
      ipcheck, spamhaus, spamcop, sorbs, barracudacentral, abusix, uceprotect, cloudmark, senderbase, senderscore, talosintelligence, trustedsource,
      open relay, open proxy, your|sending|client|source|connecting|dynamic * ip, ip address|ip * rejected|denied|listed|reputation|not in whitelist, mismatches client ip,
      reputation, connection (dropped|rejected|not authorized), connections * not accepted|not be accepted, no access from, not accept * from, not accepted from,
      refused mail from, refuse * to talk, not authorized to connect, dynamic address, dialup, dial up, residential,
      is listed, been listed, greylist, graylist, grey list, part of their network, network * rejected, banned, access denied,
      email from your, zombie, botnet, bot network, compromised, suspicious activity, unusual activity, mail abuse prevention, unverifyable,
      ip adresse, adresse ip, dirección ip, 拒否リスト, ブラックリスト, 黑名单`),
  },
  { reason: 'virus', phrases: phraseList('virus, malware, infected, trojan, phishing, malicious') },
  {
    reason: 'spam',
    phrases: phraseList(`
      spam, junk mail, junkmail, bulk (mail|email), mass mail, unsolicited, looks like uce, content filter, low word count, {mail} appears to be,
      classified as, message was (scored|flagged), scored as, rejected by * filter, high probability, unwanted content, content of your message,
      werbung, indésirable, 迷惑メール, 垃圾邮件, спам`),
  },
  {
    reason: 'security',
    phrases: phraseList(`
      starttls, tls, ssl, certificate, encryption, mta sts, authentication * failed|failure|turned on|credentials, must authenticate, password,
      security (reasons|policy)`),
  },
  {
    reason: 'sender_refused',
    phrases: phraseList(`
      sender * address|rejected|denied|refused|verif|domain|unknown|not|mailbox|invalid|resolve|blocked, bad|invalid|unknown|unacceptable|illegal|unresolvable * sender,
      verify sender, verification failure, verify failed, of sender, from (address|domain|header), your domain, sending domain, envelope (sender|from|address), mail from domain, mfrom,
      backscatter, null sender, empty envelope, authorized senders, only authenticated,
      not * member|subscribed|subscriber|registered gateway, only members, permission to post, not have permission, posting to, moderat, only accept,
      mailing list is closed, not (allowed|authorized) to send, restricted to, not on the list,
      expéditeur, absender, remitente, mittente, отправител, 送信者, 送信元, 差出人, 发件人, 寄件人`),
  },
  {
    reason: 'policy',
    phrases: phraseList(`
      policy, policies, rules, by rule, access rule, prohibited, administrative, administratively, transport.rules, not (permitted|allowed|authorized|authorised),
      unauthorized, unacceptable, violat, disallowed, denied by, unwilling, not willing, not welcome, refused by system,
      richtlinie, política, politique, criteri, политик, ポリシー, 策略`),
  },
  {
    reason: 'content',
    phrases: phraseList(`
      content (reject|not), message content, (banned|attachment) (attachment|type), attachment * not, attachments are, (invalid|missing|duplicate|malformed) * header,
      header * missing, headers too large, from: header, mime (error|header|part), 8 bit, charset, malformed message, bare (lf|newline), line too long,
      rfc 5322|rfc5322|rfc 2822|rfc2822|rfc compliant, not rfc, conversion, suspicious characters, multiple addresses in`),
  },

  // The address is wrong. Phrases not marked `sure` need a reply or a status that does not contradict them.
  {
    reason: 'address_moved',
    phrases: phraseList(`
      has been replaced by, address * changed, user has moved, has moved to, no longer on server, user not local; please try`),
  },
  {
    reason: 'mail_not_accepted',
    phrases: phraseList(`
      null mx, nullmx, (does not|doesnt) (accept|receive|handle|support) (|any )({mail}|smtp),
      mail not accepted here, no mail accepted, receive mail is disabled`),
  },
  {
    reason: 'mail_not_accepted',
    // Postfix before 3.0 reports a null MX as a malformed reply of the name server.
    source: 'Exim: routers/dnslookup.c; Postfix: dns_lookup',
    phrases: phraseList('indicated no smtp service, malformed or unexpected name server reply'),
  },
  {
    reason: 'network',
    phrases: phraseList(`
      host not found * try again, name (server|service) * try again, temporary|temporarily * dns|lookup|name server|resol|unresolvable,
      dns (temporarily|timeout|server failure|query failed|server unavailable), servfail, host name lookup failure, lookup timed out, lookup failed temporarily,
      (failure|error) in name resolution, name server * timeout|timed out|not respond|unavailable|failure, dns * timed out|not respond|server fail`),
  },
  {
    reason: 'host_unknown',
    phrases: phraseList(`
      domain|hostname * {missing}, host (unknown|not found|does not exist|doesnt exist), dns|lookup * not found, lookup * host * not found, (domain|host|server) lookup (failed|error), unknown|no such|invalid|illegal|bad|nonexistent|non existent * domain|host|destination system,
      domain is not reachable, domain must exist, name or service not known, no such name, nxdomain, nonexistentdomain,
      failed gethostbyname, dns hard error, bad destination host,
      no (mail exchanger|mail server|mx|valid mx|a record), couldnt be resolved, unable to resolve domain, host or domain, dns records for the destination,
      domain unbekannt, domäne|domain * nicht gefunden|existiert nicht, domaine (inconnu|nexiste), dominio (sconosciuto|inesistente|desconocido|no existe),
      domínio (não existe|inexistente|desconhecido), domein (onbekend|bestaat niet), domena nie istnieje, домен * не найден|не существует,
      ドメインが見つかり, ドメインが存在し, 域名不存在, 網域不存在`),
  },
  {
    reason: 'host_unknown',
    source:
      'Exim: route.c and routers; qmail-remote; Courier: esmtpclient.c; DragonFly Mail Agent: net.c; RFC 3463, X.1.2',
    phrases: phraseList(`
      no such domain, bad destination system address, unrouteable, unroutable, lookups failed permanently, mx records point to non existent, couldnt find any host, find a mail exchanger,
      dns lookup failure: host`),
  },
  {
    reason: 'user_unknown',
    phrases: phraseList(`
      {who} * {missing}, {missing} * user|recipient|mailbox|account|address|local|virtual, unknownuser, nosuchuser,
      no such, no (|valid |local |existing |active )(user|mailbox|mail box|account|recipient|person|alias|one at this), no this user,
      no longer * available|exist|valid|in use|employed|with|accepts|receives|active|works,
      not a * user|recipient|known|mailbox|customer, not our * customer|user, not one of our, not known (at|here|to), unknown or illegal,
      does not exist, doesnt exist, not exist, (does not|doesnt) have (a|an) , is not a recipient, isnt a recipient,
      mailbox * unavailable|not available|isnt, unavailable * user|mailbox, {who} * not available|not ok|not accepted|not local|cannot be found|does not,
      bad * address|destination|recipient|mailbox, cannot|cant|could not|unable to * find, can not be found, unable to chkpw, badrcptto, badrecipientto,
      user|person * has left|left the|missing home directory, left the (company|organization), not in my mailbox list, badly formatted,
      undeliverable address, address * is undeliverable, undefined user, dont exists, not user of, cant accept user, check for typos, double check * address,
      recipient address rejected: (user|unknown|invalid|undeliverable|no such), recipient * was undeliverable, addresses were unknown,
      destination server rejected recipients, envelope recipient has been denied, local user only, no thank you rejected,
      unbekannt, nicht bekannt, existiert nicht, existiert leider nicht, nicht gefunden, nicht vorhanden, empfänger * nicht, empfänger ungültig, ungültige adresse, nexiste pas, nexiste plus, inconnu, inexistant, introuvable, destinataire invalide, adresse invalide,
      non esiste, inesistente, sconosciut, nessun utente, non trovat, non valido, trovare lindirizzo, no existe, desconocid, no encontrad, no se encontr, no válid,
      desconhecid, não existe, não encontrad, inválid,
      inexistente, bestaat niet, onbekend, niet gevonden, ongeldig, nie istnieje, nieznan, nie znaleziono, nieprawidłowy adres, neexistuje, bulunamadı, böyle bir kullanıcı, okänd, ukendt, tuntematon, ismeretlen,
      не существует, не найден, неизвестн, нет такого, такого ящика нет, неверный (адрес|получатель), недействител,
      見つかりません, 見つかりませんでした, 存在しません, 登録されていません, 有効ではありません, 不存在, 未开通, 没有此用户, 没有该用户, 無此用戶, 无此用户, 无效的收件人, 地址无效, 找不到, 無此使用者, 查無此, 존재하지, 찾을 수, 없는 사용자, 수신자가 없습니다`),
  },

  // Time, network and systems. The vaguest wordings come last.
  {
    reason: 'expired',
    phrases: phraseList(`
      retry (time|limit), maximum retry, expired, in the queue too long, queue (too long|lifetime|time exceeded), too long in queue,
      not * delivered|deliver * for|within|after|days, not yet been delivered, been delayed, is delayed, delivery * attempts|time expired, will be retried,
      will keep trying, undelivered for, timeout exceeded, giving up after, been retrying, too old, maximum time, age limit, undeliverable after`),
  },
  {
    reason: 'network',
    phrases: phraseList(`
      timed out, timeout, time out, connection * refused|reset|lost|closed|failed|dropped|timed, lost connection,
      could not|couldnt|unable to|cannot|failed to * connect|contact|reach|establish, did not accept our requests, did not respond,
      no route to host, no answer from, unreachable, not reachable, host is down, network error, socket error, broken pipe,
      loop, too many (hops|received), hop count, hops exceeded, name service error, name server, lookup failure,
      dns (error|query|failure|lookup), mx * points to, ttl expired, establish an smtp connection`),
  },
  {
    reason: 'protocol',
    phrases: phraseList(`
      syntax error, bad (command|sequence), command (not|rejected), unrecognized command, malformed address, protocol error, not implemented,
      argument rejected, command pipelining`),
  },
  {
    reason: 'system',
    phrases: phraseList(`
      system|internal|server|configuration|local|mailer|software|unexpected|processing|write|input/output * error|problem, internal server, misconfig,
      temporary (failure|error|local problem), resource|resources|service * temporarily|unavailable|not available, temporarily unavailable, could not be processed,
      procmail, command failed, cant create output, cannot open, could not open, permission denied, unable to create, transaction failed,
      several matches found, disk full, out of memory, delivery error * script, local configuration, policyd, mailer exit, exit status,
      maintenance, overloaded, too busy, server busy, load average`),
  },
  // Postfix begins the reply of every restriction with these words, so a status that names another cause wins.
  { reason: 'user_unknown', vague: true, phrases: phraseList('(recipient|address) (|is |was )(rejected|refused)') },
  { reason: 'filtered', phrases: phraseList('filtered, is not accepting, refused, rejected') },
  // Some systems advise to check the address after any error, so this counts only if no other cause is named.
  {
    reason: 'user_unknown',
    sure: true,
    vague: true,
    source:
      'Microsoft: Email non-delivery reports and SMTP errors in Exchange Online, 5.1.1; NHIN Direct: FailedDeliveryDSNCreatorOptions.java',
    phrases: phraseList('check(|ing) (|if |that |whether )(|the )(|recipient |recipients )(|email |e mail )address'),
  },
]
