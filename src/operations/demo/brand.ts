import { datePastAccount } from '../../accounts/accounts.ts'
import { changeBrand, createImage, datePastImages, imageUrlOf } from '../../content/content.ts'
import type { Db } from '../../platform/db/db.ts'
import type { TaskPool } from '../../platform/tasks/pool.ts'
import type { OrganizationId } from '../../platform/values/ids.ts'
import { shopUrl } from './content.ts'
import { eveningPicture, logoPicture } from './pictures.ts'

const mibPerOrganization = 10

type Options = { organizationId: OrganizationId; baseUrl: string; createdAt: Date }

/** Adds images and the brand of a shop, and returns the address of the picture for emails. */
export async function addBrand(
  db: Db,
  tasks: TaskPool,
  { organizationId, baseUrl, createdAt }: Options,
): Promise<string> {
  const add = (name: string, altText: string, bytes: Buffer) =>
    createImage({ db, tasks, mibPerOrganization }, organizationId, { name, altText, bytes })
  const logo = await add('logo.png', 'Corner Shop', logoPicture())
  const picture = await add('evening.png', 'The sun above the hills at dusk', eveningPicture())
  await changeBrand(db, organizationId, {
    name: 'Corner Shop',
    logoImageId: logo.id,
    color: '#1c6b4f',
    backgroundColor: '#f4f6f2',
    font: 'system',
    postalAddress: '12 Market Street\n1010 Vienna',
    websiteUrl: shopUrl,
  })
  await datePastImages(db.statement, organizationId, createdAt)
  await db.begin((tx) => datePastAccount(tx, organizationId, createdAt))
  return imageUrlOf(baseUrl, picture)
}
