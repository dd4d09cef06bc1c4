import { IconPhoto } from '@tabler/icons-react'
import { useState } from 'react'
import type { Image } from '../../api/types.ts'
import { ListFrame } from '../../ui/list.tsx'
import { SearchField } from '../../ui/search-field.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import { FlowsFrame } from '../flows/flows-frame.tsx'
import { ImageDialog } from './image-dialog.tsx'
import { ImageGrid } from './image-grid.tsx'
import { useImages } from './images.api.ts'
import { DropImages, UploadButton, useUploads } from './upload-images.tsx'

export function ImagesPage() {
  const { filter, field, filtered } = useFilters('query')
  const images = useImages(filter.query)
  const upload = useUploads()
  const [chosen, setChosen] = useState<Image>()
  const hasImages = images.data !== undefined && (images.data.length > 0 || filtered)
  return (
    <FlowsFrame tab="Images" actions={hasImages && <UploadButton upload={upload} />}>
      <DropImages upload={upload}>
        <ListFrame
          query={images}
          filters={hasImages && <SearchField label="Search images" {...field('query')} />}
          empty={{
            title: 'No images yet',
            icon: IconPhoto,
            action: <UploadButton upload={upload} />,
            children:
              'Upload or drop pictures here, then insert them in the editor of a flow. PNG, JPEG, GIF or WebP, up to 10 MB.',
          }}
          notFound={filtered && { title: 'No images found', children: 'Try another search.' }}
        >
          {(rows) => <ImageGrid images={rows} onChoose={setChosen} />}
        </ListFrame>
      </DropImages>
      {chosen && <ImageDialog image={chosen} onClose={() => setChosen(undefined)} />}
    </FlowsFrame>
  )
}
