import type { Senders } from '../delivery/delivery.ts'
import { type Area, loopsOf } from '../platform/area.ts'
import type { Platform } from '../platform/platform.ts'
import { hourMs, minuteMs } from '../platform/values/durations.ts'
import type { ContentBase } from './base.ts'
import { brandRoutes } from './brands/brands.routes.ts'
import { removeUnusedObjects } from './files/bucket-cleanup.ts'
import { BucketFiles } from './files/bucket-files.ts'
import { draftRoutes } from './flows/drafts.routes.ts'
import { flowRoutes } from './flows/flows.routes.ts'
import { previewRoutes } from './flows/preview.routes.ts'
import { versionRoutes } from './flows/versions.routes.ts'
import { imageFileRoutes } from './images/image-files.routes.ts'
import { imageRoutes } from './images/images.routes.ts'
import { moveImages } from './images/move-images.ts'
import { ServedImages } from './images/served-images.ts'
import { LinkChecker } from './link-checks/link-checker.ts'
import { linkCheckRoutes } from './link-checks/link-checks.routes.ts'
import { flowPartRoutes } from './parts/flow-parts.routes.ts'

export function contentArea(platform: Platform, { runner }: ContentBase, { senders }: { senders: Senders }): Area {
  const { limits, db, failures, read, tasks, stageRegistry, baseUrl, bucket } = platform
  const bucketFiles = new BucketFiles({ db, failures, bucket })
  const linkChecker = new LinkChecker({ ...platform.egress, stages: stageRegistry })
  const images = new ServedImages(db, bucketFiles, stageRegistry)
  const loop = loopsOf(platform)
  return {
    routes: {
      organization: [
        imageRoutes({
          db,
          read,
          tasks,
          bucketFiles,
          stageRegistry,
          baseUrl,
          mibPerOrganization: limits.imageMibPerOrganization,
        }),
        brandRoutes({ db, read, baseUrl }),
        flowRoutes({ db, read, senders, runner }),
        flowPartRoutes({ db, runner, read }),
        draftRoutes({ db, senders, runner }),
        versionRoutes({ db, read }),
        previewRoutes({ db, runner, senders }),
        linkCheckRoutes({ linkChecker }),
      ],
      site: [imageFileRoutes({ images, missLimit: platform.pageLimit })],
    },
    background: bucket
      ? [
          loop('delete unused objects', minuteMs, () => removeUnusedObjects(db, bucket)),
          loop('move images to the bucket', hourMs, () => moveImages(db, bucketFiles)),
        ]
      : [],
    stop: { last: () => linkChecker.close() },
  }
}
