import { Button, Menu, ScrollArea, Text } from '@mantine/core'
import { IconBraces, IconPhoto, IconPlus } from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { messageOf } from '../../api/api-error.ts'
import type { Variable } from '../../api/types.ts'
import { attributesQuery } from '../../audience/segments/segments.api.ts'
import { toast } from '../../ui/toast.tsx'
import { flowPartQuery, flowPartsQuery } from '../flow-parts/flow-parts.api.ts'
import { type Block, blocks, imageBlock, partBlock, variableBlock } from './insert-blocks.ts'
import { isContextVariable } from './sample-data.ts'
import { nameHelp } from './template-help.ts'

const ImagePicker = lazy(async () => ({ default: (await import('../images/image-picker.tsx')).ImagePicker }))

const small = { size: 14, 'aria-hidden': true } as const
const menuHeightMax = 'min(420px, 60vh)'

type Props = {
  /** Plain text has no blocks and no images. */
  isText: boolean
  variables: Variable[]
  onInsert: (block: Block) => void
}

/** Inserts blocks, images and variables at the cursor of the editor. */
export function InsertMenu({ isText, variables, onInsert }: Props) {
  const [picking, setPicking] = useState(false)
  return (
    <>
      {!isText && <BlockMenu onInsert={onInsert} />}
      {!isText && (
        <Button size="xs" variant="default" leftSection={<IconPhoto {...small} />} onClick={() => setPicking(true)}>
          Image
        </Button>
      )}
      <VariableMenu variables={variables} onInsert={onInsert} />
      {picking && (
        <Suspense>
          <ImagePicker
            describes
            onClose={() => setPicking(false)}
            onChoose={(image) => {
              setPicking(false)
              onInsert(imageBlock(image))
            }}
          />
        </Suspense>
      )}
    </>
  )
}

function BlockMenu({ onInsert }: Pick<Props, 'onInsert'>) {
  const parts = useQuery(flowPartsQuery).data
  const queries = useQueryClient()
  // Where it is inserted depends on its text.
  const insertPart = useMutation({
    mutationFn: (id: string) => queries.fetchQuery(flowPartQuery(id)),
    onSuccess: (part) => onInsert(partBlock(part)),
    onError: (error) => toast(messageOf(error), 'bad'),
  })
  return (
    <Menu position="bottom-start" returnFocus={false}>
      <Menu.Target>
        <Button size="xs" variant="default" leftSection={<IconPlus {...small} />}>
          Block
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <ScrollArea.Autosize mah={menuHeightMax}>
          {blocks.map((block) => (
            <Menu.Item key={block.label} onClick={() => onInsert(block)}>
              {block.label}
            </Menu.Item>
          ))}
          {parts && parts.length > 0 && (
            <>
              <Menu.Label>Your parts</Menu.Label>
              {parts.map((part) => (
                <Menu.Item key={part.id} onClick={() => insertPart.mutate(part.id)}>
                  {part.name}
                </Menu.Item>
              ))}
            </>
          )}
        </ScrollArea.Autosize>
      </Menu.Dropdown>
    </Menu>
  )
}

function VariableMenu({ variables, onInsert }: Pick<Props, 'variables' | 'onInsert'>) {
  const attributes = useQuery(attributesQuery).data
  const sent = variables.filter(isContextVariable).map(({ name }) => name)
  const item = (name: string, meaning?: string) => (
    <Menu.Item key={name} onClick={() => onInsert(variableBlock(name))}>
      <Text ff="monospace" size="sm" className="break">
        {name}
      </Text>
      {meaning && (
        <Text size="xs" opacity={0.8}>
          {meaning}
        </Text>
      )}
    </Menu.Item>
  )
  return (
    <Menu position="bottom-start" returnFocus={false} width={300}>
      <Menu.Target>
        <Button size="xs" variant="default" leftSection={<IconBraces {...small} />}>
          Variable
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <ScrollArea.Autosize mah={menuHeightMax}>
          {nameHelp.filter(({ isExample }) => !isExample).map(({ name, meaning }) => item(name, meaning))}
          {attributes && attributes.size > 0 && (
            <>
              <Menu.Label>Contact attributes</Menu.Label>
              {[...attributes.keys()].map((name) => item(attributeVariable(name)))}
            </>
          )}
          {sent.length > 0 && (
            <>
              <Menu.Label>Sent by your app</Menu.Label>
              {sent.map((name) => item(name))}
            </>
          )}
        </ScrollArea.Autosize>
      </Menu.Dropdown>
    </Menu>
  )
}

/** Names with spaces or dots are written in brackets. */
const attributeVariable = (name: string) =>
  /^[a-z_][\w-]*$/i.test(name)
    ? `contact.attributes.${name}`
    : `contact.attributes[${name.includes('"') ? `'${name}'` : `"${name}"`}]`
