import { findAddresses, recipientsMax } from './addresses.ts'
import { headerValue, type MailParts } from './mail-parts.ts'
import { anyPattern } from './rule-usage.ts'

// Senders, subjects and sentences of bounces. Each of them occurs in ordinary mail too.
const daemon =
  /mailer[-_ ]?daemon|post_?master|mail(?:ing)? ?deliver|delivery (?:sub)?system|mail administrator|mail router|mdaemon|system administrator|microsoft outlook|\bndr\b|non-?delivery/i

const called = [
  /undeliver|non-?deliver|not (?:be )?deliver|unable to deliver|returned (?:mail|message|to sender)|return(?:ing)? message to sender/i,
  /deliver(?:y|able) (?:failure|failed|status|problem|error|report|notif|delay|has failed|incomplete|unsuccess)/i,
  /fail(?:ed|ure) (?:notice|deliver|mail|to deliver)|mail (?:delivery|failure|system error|error|could not|returned|status)/i,
  /message (?:not|could not|delivery|undeliverable|delayed|status)|(?:could ?n[o']t|cannot|can'?t) be (?:delivered|sent)/i,
  /warning: (?:message|could not|mail)|are not member|loop alert/i,
  /nicht zustell|unzustellbar|unbestellbar|non remis|non distribu|échec de la remise|non recapit|mancat[oa] (?:recapito|consegna)/i,
  /no se (?:ha )?pu(?:do|ede) entregar|no entregado|não entregue|devolvid|onbestelbaar|niedostarcz|не ?доставлен/i,
  /送信できません|配信できません|配信不能|送信エラー|送信失敗|配信失敗|退信|退回|投递失败|반송|전송 실패/,
]

const says = [
  /(?:could ?n[o']t|cannot|can'?t) be (?:delivered|sent|reached)|unable to (?:be )?deliver|(?:not|n't) (?:yet )?(?:been )?(?:able to )?deliver/i,
  /undeliver|non-?deliver|(?:delivery|message|mail|address|recipient)s?\b.{0,60}\bfail(?:ed|ure)/i,
  /fail(?:ed|ure)\b.{0,40}\b(?:deliver|recipient|address|send|message)|permanent (?:fatal )?error|(?:fatal|delivery) (?:errors|problems)/i,
  /(?:was|were|been) (?:rejected|delayed|refused|returned)|(?:rejected|refused) your (?:message|mail)|did not reach|returned mail/i,
  /transcript of session|error (?:occurred|delivering)|delivery (?:status|to the following)|not a member of this|duplicated message-id/i,
  /user unknown|unknown user|no such user|mailbox (?:full|unavailable|exceeds)|account is disabled|no valid recipients|incorrectly constructed/i,
  /zustell|non remis|n'a pas pu|recapito|no se (?:ha )?pu(?:do|ede)|не может быть доставлено|не доставлено/i,
  /送信できません|配信できません|届けられません|届けできません|届きません|見つかりません|(?:送信|配信|配送)(?:に|が)失敗/,
  /无法投递|无法送达|未能送达|(?:投递|发送|投遞|傳送)失败|退信|被退回|반송|전송(?:에)? ?실패|배달할 수 없/,
]

// A sentence of its own that names the recipient, as mobile carriers write it.
const namesUndelivered = /^(?:could not|couldn't|cannot|can't) be delivered to: {0,4}<[^<>\s]{1,320}>/im

const quotesRefusal = /(?:^|[\s(:>])(?:4[0-5]\d|5[0-7]\d)[ -](?:#?[45]\.\d{1,3}\.\d{1,3}\b|.{3,})/m

const autoReplySubject =
  /^\s*(?:re: ?)?(?:auto(?:matic(?:ally generated)?)?[- _]?(?:reply|response|responder|antwort)|out[- ]of[- ](?:the[- ])?office|ooo\b|vacation|on (?:vacation|holiday|leave)|away from|abwesen|automatische antwort|réponse automatique|absence|respuesta autom|fuera de|risposta automatica|assenza|resposta autom|ausência|automatisch antwoord|afwezig|автоответ|自動(?:返信|応答)|自动回复|不在)/i
const autoReplyHeaders = ['x-autoreply', 'x-autorespond', 'x-autoresponse', 'x-mail-autoreply', 'x-auto-reply']

/** Returns true for automatic replies: the mail was delivered. */
export function isAutoReply({ headers }: MailParts): boolean {
  const value = (name: string) => headerValue(headers, name)
  if (value('x-failed-recipients') !== '') return false
  if (/auto[-_ ]?(?:reply|respon)/i.test(value('precedence')) || /vacation/i.test(value('auto-submitted'))) return true
  return autoReplyHeaders.some((name) => value(name) !== '') || autoReplySubject.test(value('subject'))
}

/** Whether a mail without a delivery-status part reports that a mail was not delivered. */
export function looksLikeBounce({ headers, returned }: MailParts, words: string, namesRecipient: boolean): boolean {
  const value = (name: string) => headerValue(headers, name)
  if (value('x-failed-recipients') !== '' || namesUndelivered.test(words)) return true
  const isCalled = anyPattern(called, value('subject'))
  const isSaid = anyPattern(says, words)
  const isQuoted = quotesRefusal.test(words)
  if (daemon.test(`${value('from')} ${value('sender')} ${value('return-path')}`)) {
    return isSaid || isQuoted || (isCalled && words.trim() !== '')
  }
  if (isCalled && (isSaid || isQuoted) && namesRecipient) return true
  return hasEmptySender(headers) && isSaid && (isQuoted || returned.length > 0)
}

/** Bounces have the empty sender `<>`, so that they cannot bounce; so do many automatic replies. */
function hasEmptySender(headers: MailParts['headers']): boolean {
  return headers.some(({ name, value }) => name === 'return-path' && ['', '<>', '< >'].includes(value.trim()))
}

const confirmation =
  /success(?:ful|fully)\b.{0,60}\b(?:deliver|relay)|deliver(?:y|ed|y report)?\b.{0,40}\bsuccess|(?:was|were|been|has been) (?:successfully )?(?:delivered|relayed|expanded) (?:to|in)\b/i
const failureWords = /\b(?:fail|could not|couldn't|cannot|unable|undeliver|not delivered|error|reject|refused|bounce)/i

/**
 * The recipients that a notice without a delivery-status part reports as delivered to, such as a return receipt. Returns
 * null if the notice reports anything else.
 */
export function deliveredRecipients({ headers }: MailParts, words: string, own: ReadonlySet<string>): string[] | null {
  const head = words.slice(0, 4000)
  const subject = headerValue(headers, 'subject').slice(0, 300)
  if (!confirmation.test(`${subject}\n${head}`) || failureWords.test(`${subject}\n${head}`)) return null
  const named = findAddresses(head).filter((address) => !own.has(address))
  return named.length > 0 ? named.slice(0, recipientsMax) : null
}
