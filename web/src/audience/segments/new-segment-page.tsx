import { Button } from '@mantine/core'
import { Link, useNavigate, useSearchParams } from 'react-router'
import { keys, useInvalidate } from '../../api/keys.ts'
import { paths } from '../../paths.ts'
import { Page } from '../../ui/page.tsx'
import { parseFilter } from './filter-text.ts'
import { SegmentForm } from './segment-form.tsx'
import { createSegment } from './segments.api.ts'

export function NewSegmentPage() {
  const [search] = useSearchParams()
  const navigate = useNavigate()
  const invalidate = useInvalidate()
  return (
    <Page title="New segment" back={{ to: paths.segments, label: 'Segments' }}>
      <SegmentForm
        name=""
        filter={parseFilter(search.get('filter') ?? '')}
        action="Create segment"
        save={createSegment}
        onSaved={(segment) => {
          void invalidate(keys.segments)
          void navigate(`${paths.contacts}?segment=${segment.id}`)
        }}
      >
        <Button component={Link} to={paths.segments} variant="default">
          Cancel
        </Button>
      </SegmentForm>
    </Page>
  )
}
