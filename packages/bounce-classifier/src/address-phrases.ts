import { type PhraseRule, phraseList } from './phrase-list.ts'

/** Statements of systems about their own look-up of the address, which hold at whatever moment they are made. */
export const lookupRules: readonly PhraseRule[] = [
  {
    reason: 'user_unknown',
    sure: true,
    phrases: phraseList(`
      address couldnt be found, recipient name is not recognized, unknown user:, invalid final delivery userid,
      recipient address rejected: access denied, delivery error: dd this user doesnt have,
      mail action aborted * mailbox not found, no mailbox here by that name,
      not listed in public name & address book, not listed in domino directory, annuaire domino, directorio de domino,
      domino verzeichnis, domino ディレクトリには見つかりません`),
  },
  { reason: 'host_unknown', phrases: phraseList('account or domain may not exist') },
]

/** Rules that blame the address. Phrases that are not sure count only when RCPT was refused or the status agrees. */
export const addressRules: readonly PhraseRule[] = [
  {
    reason: 'address_moved',
    phrases: phraseList(`
      has been replaced by, address has changed, address * has been changed, address changed, user has moved,
      has moved to, no longer on server, user not local; please try`),
  },
  {
    reason: 'mail_not_accepted',
    phrases: phraseList(`
      null mx, nullmx, indicated no smtp service, does not accept mail, doesnt accept mail, does not accept email,
      doesnt receive email, does not receive mail, does not receive email, does not handle mail,
      not accepting network messages, does not support smtp`),
  },
  { reason: 'network', phrases: phraseList('host not found * try again, name server * try again') },
  {
    reason: 'host_unknown',
    phrases: phraseList(`
      domain name not found, domain not found, domain * does not exist, domain doesnt exist, domain is not exist,
      domain is invalid, domain is not reachable, domain * couldnt be found, domain * could not be found,
      host unknown, unknown host, unknown domain, host not found, host * not found, host does not exist,
      no such domain, no such host, invalid domain, illegal host, name or service not known, nxdomain,
      failed gethostbyname, unrouteable, unroutable, all host address lookups failed permanently,
      mx records point to non existent hosts, couldnt find any host, couldnt find a mail exchanger, no mail exchanger,
      no mx for, no mx record, no mail server, bad destination system, dns error * not found,
      domain unbekannt, domaine inconnu, dominio sconosciuto, домен не найден, ドメインが見つかり, ドメインが存在し`),
  },
  {
    reason: 'user_unknown',
    phrases: phraseList(`
      user unknown, unknown user, user is unknown, user * unknown, unknown local, unknown recipient, unknown address,
      unknown mailbox, unknown account, unknown email address, unknown or illegal, recipient unknown,
      recipient is unknown, recipient * unknown, address unknown, account unknown, mailbox unknown,
      no such user, no such recipient, no such mailbox, no such address, no such account, no such person,
      no such local, no such email, no such mail, no such a user, no user here, no user with, no account by that name,
      no account with, no mailbox, no mail box, no recipient, no valid recipient, no local mailbox, no existing,
      no longer available, no longer exist, no longer valid, no longer in use, no longer employed, no longer with,
      nosuchuser, not a valid, not a known, not a local user, not a user, not our customer, not known at,
      not known here, not listed in, doesnt exist, does not exist, do not exist, not exist, does not have a,
      doesnt have a, user not found, user * not found, user cant be found, user invalid,
      mailbox not found, mailbox * not found, mailbox * unavailable, mailbox not available, mailbox not present,
      mailbox invalid, address not found, address * not found, address not present, address not recognized,
      address not known, address invalid, address is invalid, address is not valid, address could not be found,
      address wasnt found, recipient not found, recipient * not found, recipientnotfound, recipnotfound,
      recipient not exist, recipient no longer, recipient not recognized, recipient not ok, recipient invalid,
      invalid user, invalid recipient, invalid mailbox, invalid address, invalid email address, invalid account,
      bad address, bad destination, bad recipient, account not found, account * not found, account not available,
      account does not, account is not, cannot find, cant find, could not find, unable to find, unable to chkpw,
      undeliverable address, deleted mailbox, mailbox deleted, user deleted, user has left, left the company,
      left the organization, misspelled, not in my mailbox list, badly formatted,
      unbekannt, existiert nicht, nicht gefunden, empfänger * nicht, nexiste pas, inconnu, destinataire invalide,
      non esiste, inesistente, sconosciut, trovare lindirizzo, no existe, desconocido, desconhecido, não existe,
      inexistente, bestaat niet, nie istnieje, neexistuje, не существует, не найден, неизвестн,
      見つかりません, 存在しません, 不存在, 존재하지`),
  },
]
