import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { organizationIdOf } from '../../accounts/accounts.ts'
import type { BoundedRead } from '../../platform/db/bounded-read.ts'
import type { Db } from '../../platform/db/db.ts'
import { answers, Named, Nullable, ok, oneOf, Timestamp } from '../../platform/http/envelope.ts'
import { tagRoutes } from '../../platform/http/tags.ts'
import { parseIdParam } from '../../platform/values/id-params.ts'
import { toText } from '../../platform/values/ids.ts'
import { FlowReference, flowReferences } from '../images/flow-reference.ts'
import { brandValuesOf } from './brand-values.ts'
import { selectOutdatedFlows } from './brands.sql.ts'
import { type Brand, changeBrand, getBrand, urlLengthMax } from './brands.ts'
import { fonts } from './fonts.ts'

const outdatedMax = 100
const Color = (description: string) => Type.String({ pattern: '^#[0-9A-Fa-f]{6}$', maxLength: 7, description })

const fields = {
  name: Nullable(Type.String({ maxLength: 200, description: 'Default: the name of the organization.' })),
  logo_image_id: Nullable(Type.String({ description: 'An image of the gallery.' })),
  color: Nullable(Color('Of buttons and links, such as `#1f5fa3`.')),
  background_color: Nullable(Color('Behind the content.')),
  font: Nullable(oneOf(...fonts)),
  postal_address: Nullable(
    Type.String({
      maxLength: 500,
      description: 'Shown in the footer of emails. The law of most countries requires it.',
    }),
  ),
  website_url: Nullable(
    Type.String({
      maxLength: urlLengthMax,
      description: 'Where the logo leads to. `https://` is added if it is missing.',
    }),
  ),
}
const BrandOut = Named('Brand', {
  ...fields,
  values: Type.Object(
    {
      name: Type.String(),
      logo_url: Nullable(Type.String()),
      color: Type.String(),
      text_on_color: Type.String(),
      background_color: Type.String(),
      font: Type.String(),
      address: Nullable(Type.String()),
      website_url: Nullable(Type.String()),
    },
    { description: 'The values of `brand` in templates, with defaults for what is not set.' },
  ),
  outdated_flows: Type.Array(FlowReference, {
    description: `Up to ${outdatedMax} flows that were published with another brand. Rebuild them to use this one.`,
  }),
  updated_at: Nullable({ ...Timestamp, description: 'Null if nothing was ever set.' }),
})

type Parts = { db: Db; read: BoundedRead; baseUrl: () => string }

export function brandRoutes({ db, read, baseUrl }: Parts): FastifyPluginAsyncTypebox {
  const brandOut = async (brand: Brand) => {
    const { organizationId } = brand
    const values = brandValuesOf(brand, baseUrl())
    const outdated = await read(organizationId, (tx) => selectOutdatedFlows(tx, organizationId, values, outdatedMax))
    return {
      name: brand.name,
      logo_image_id: brand.logoImageId && toText('img', brand.logoImageId),
      color: brand.color,
      background_color: brand.backgroundColor,
      font: brand.font,
      postal_address: brand.postalAddress,
      website_url: brand.websiteUrl,
      values: values as { [Name in keyof typeof values]: string },
      outdated_flows: flowReferences(outdated),
      updated_at: brand.updatedAt?.toISOString() ?? null,
    }
  }
  return async (api) => {
    tagRoutes(api, 'Brand')
    api.get('/brand', {
      config: { permission: 'flows:read' },
      schema: {
        operationId: 'getBrand',
        summary: 'Get the brand',
        description: 'The logo, colors, font and address that templates use as `brand`.',
        response: answers(BrandOut),
      },
      handler: async (request) => ok(await brandOut(await getBrand(db, organizationIdOf(request)))),
    })

    api.patch('/brand', {
      config: { permission: 'flows:write' },
      schema: {
        operationId: 'updateBrand',
        summary: 'Update the brand',
        description:
          'Omitted fields keep their value; null restores the default. Published flows keep the brand that they were published with, and are listed in `outdated_flows`: publish or rebuild them to use the new one. Unsubscribe pages change at once.',
        errors: {
          not_found: 'The image does not exist.',
          validation_failed: 'A color, the address or the URL is invalid.',
        },
        body: Type.Partial(Type.Object(fields)),
        response: answers(BrandOut),
      },
      handler: async (request) => {
        const { body } = request
        const { logo_image_id: logo } = body
        const changed = await changeBrand(db, organizationIdOf(request), {
          name: body.name,
          logoImageId: typeof logo === 'string' ? parseIdParam('img', logo) : logo,
          color: body.color,
          backgroundColor: body.background_color,
          font: body.font,
          postalAddress: body.postal_address,
          websiteUrl: body.website_url,
        })
        return ok(await brandOut(changed))
      },
    })
  }
}
