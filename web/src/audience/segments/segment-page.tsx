import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from 'react-router'
import { keys, useInvalidate } from '../../api/keys.ts'
import { paths } from '../../paths.ts'
import { ConfirmButton } from '../../ui/confirm.tsx'
import { Copyable } from '../../ui/copy.tsx'
import { Page } from '../../ui/page.tsx'
import { Load } from '../../ui/states.tsx'
import { toast } from '../../ui/toast.tsx'
import { SegmentForm } from './segment-form.tsx'
import { changeSegment, deleteSegment, segmentQuery } from './segments.api.ts'

export function SegmentPage() {
  const { id = '' } = useParams()
  const segment = useQuery(segmentQuery(id))
  const invalidate = useInvalidate()
  const navigate = useNavigate()
  const name = segment.data?.name ?? 'Segment'
  return (
    <Page
      title={name}
      back={{ to: paths.segments, label: 'Segments' }}
      beside={<Copyable value={id} label="Copy the ID of the segment" />}
      actions={
        <Button component={Link} to={`${paths.contacts}?segment=${id}`} variant="default">
          View contacts
        </Button>
      }
    >
      <Load query={segment}>
        {(saved) => (
          <SegmentForm
            name={saved.name}
            filter={saved.filter}
            action="Save segment"
            save={(input) => changeSegment(id, input)}
            onSaved={() => {
              void invalidate(keys.segments, keys.contacts)
              toast('Segment saved.')
            }}
          >
            <ConfirmButton
              variant="subtle"
              color="red"
              confirm={{
                title: 'Delete segment',
                action: 'Delete segment',
                children: (
                  <>
                    <strong>{name}</strong> will be deleted. Its contacts are kept.
                  </>
                ),
                run: async () => {
                  await deleteSegment(id)
                  await navigate(paths.segments)
                  await invalidate(keys.segments)
                },
              }}
            >
              Delete segment
            </ConfirmButton>
          </SegmentForm>
        )}
      </Load>
    </Page>
  )
}
