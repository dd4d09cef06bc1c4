import { Type } from 'typebox'
import { Named, Nullable } from '../../platform/http/envelope.ts'
import { valueLengthMax } from './utm.ts'

const Value = (description: string) => Nullable(Type.String({ maxLength: valueLengthMax, description }))
const values = {
  source: Value('Where the visitor comes from, such as `newsletter`.'),
  medium: Value('Such as `email`.'),
  campaign: Value('Such as `spring-sale`.'),
  content: Value('Tells emails of a campaign apart, such as `variant-a`.'),
}
const description =
  'Parameters that are added to the http links of the email, such as `utm_source`, unless a link has them already. Null for none.'
export const UtmIn = Nullable(Type.Partial(Type.Object(values), { title: 'UtmInput', description }))
export const UtmOut = Nullable(Named('Utm', values, { description }))
