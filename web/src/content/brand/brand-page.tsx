import { Anchor, Button, Group, Stack, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from 'react-router'
import { messageOf } from '../../api/api-error.ts'
import { keys, useInvalidate } from '../../api/keys.ts'
import type { Brand } from '../../api/types.ts'
import { paths } from '../../paths.ts'
import { Notice } from '../../ui/notice.tsx'
import { pluralize } from '../../ui/numbers.ts'
import { Section } from '../../ui/section.tsx'
import { ErrorLine, Load } from '../../ui/states.tsx'
import { toast } from '../../ui/toast.tsx'
import { rebuildFlow } from '../flows/flows.api.ts'
import { brandQuery } from './brand.api.ts'
import { BrandForm } from './brand-form.tsx'

export function BrandPage() {
  const brand = useQuery(brandQuery)
  return (
    <Section
      title="Brand"
      titleHidden
      description="How your emails look. Starters and unsubscribe pages use your brand. In your own templates, write {{ brand.color }} or {{ brand.logo_url }}."
    >
      <Load query={brand}>
        {(data) => (
          <>
            <OutdatedFlows brand={data} />
            <BrandForm brand={data} />
          </>
        )}
      </Load>
    </Section>
  )
}

/** Published flows keep the brand that they were published with. */
function OutdatedFlows({ brand: { outdated_flows: flows } }: { brand: Brand }) {
  const queries = useQueryClient()
  const invalidate = useInvalidate()
  const update = useMutation({
    mutationFn: async () => {
      for (const { id } of flows) await rebuildFlow(id)
    },
    onSuccess: () => toast('Published with the new brand.'),
    onSettled: () => Promise.all([invalidate(keys.flows), queries.refetchQueries({ queryKey: keys.brand })]),
  })
  if (flows.length === 0) return null
  return (
    <Stack gap="xs" mb="md">
      <Notice
        tone="info"
        title={`${pluralize(flows.length, 'published flow uses', 'published flows use')} an earlier brand`}
      >
        <Group gap={8}>
          {flows.map(({ id, name }) => (
            <Anchor key={id} component={Link} to={paths.flow(id)}>
              {name}
            </Anchor>
          ))}
        </Group>
        <Text mt={4}>Publish them again, unchanged, to send them with the current one.</Text>
        <Button mt="sm" size="xs" loading={update.isPending} onClick={() => update.mutate()}>
          Publish again
        </Button>
      </Notice>
      {update.error && <ErrorLine>{messageOf(update.error)}</ErrorLine>}
    </Stack>
  )
}
