import { Box, Button, ColorInput, Group, Input, Paper, Select, Stack, Textarea, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { defaultBackground, defaultColor, textOn } from '../../../../src/content/brands/colors.ts'
import { type Font, fontStacks } from '../../../../src/content/brands/fonts.ts'
import { basePath } from '../../api/base.ts'
import { keys, useInvalidate } from '../../api/keys.ts'
import type { Brand } from '../../api/types.ts'
import { paths } from '../../paths.ts'
import { useRequestForm } from '../../ui/form.tsx'
import { ErrorLine } from '../../ui/states.tsx'
import { toast } from '../../ui/toast.tsx'
import { UnsavedGuard } from '../../ui/unsaved-guard.tsx'
import { brandQuery, changeBrand } from './brand.api.ts'
import classes from './brand-form.module.css'
import { BrandPreview, type BrandValues } from './brand-preview.tsx'

const ImagePicker = lazy(async () => ({ default: (await import('../images/image-picker.tsx')).ImagePicker }))

const fonts: { value: Font; label: string }[] = [
  { value: 'system', label: 'System font' },
  { value: 'arial', label: 'Arial' },
  { value: 'verdana', label: 'Verdana' },
  { value: 'tahoma', label: 'Tahoma' },
  { value: 'trebuchet', label: 'Trebuchet MS' },
  { value: 'georgia', label: 'Georgia' },
  { value: 'times', label: 'Times New Roman' },
  { value: 'courier', label: 'Courier New' },
]

const isColor = (text: string) => /^#[0-9a-f]{6}$/i.test(text)
const colorOr = (fallback: string, given: string) => (isColor(given) ? given : fallback)
/** An empty field stands for the default. */
const problemOfColor = (given: string) =>
  given === '' || isColor(given) ? undefined : 'Enter a color such as #1f5fa3.'

/** What is typed stays until the form is sent: an emptied field would otherwise get its last color again. */
const colorInput = { format: 'hex', withEyeDropper: false, fixOnBlur: false } as const

/** As it would be after saving. */
function valuesOf(brand: Brand, values: FormValues): BrandValues {
  const color = colorOr(defaultColor, values.color)
  return {
    ...brand.values,
    name: values.name.trim() || brand.values.name,
    logo_url: values.logoUrl,
    color,
    text_on_color: textOn(color),
    background_color: colorOr(defaultBackground, values.background_color),
    font: fontStacks[values.font],
    address:
      values.postal_address
        .trim()
        .split(/\s*\n\s*/)
        .join(', ') || null,
    website_url: values.website_url.trim() || null,
  }
}

type FormValues = ReturnType<typeof initialValuesOf>

const initialValuesOf = (brand: Brand) => ({
  name: brand.name ?? '',
  logo_image_id: brand.logo_image_id,
  logoUrl: brand.values.logo_url,
  color: brand.values.color,
  background_color: brand.values.background_color,
  font: brand.font ?? ('system' as const),
  postal_address: brand.postal_address ?? '',
  website_url: brand.website_url ?? '',
})

export function BrandForm({ brand }: { brand: Brand }) {
  const queries = useQueryClient()
  const invalidate = useInvalidate()
  const form = useRequestForm({
    initialValues: initialValuesOf(brand),
    validate: ({ color, background_color: background }) => ({
      color: problemOfColor(color),
      background_color: problemOfColor(background),
    }),
    send: ({ logoUrl: _, ...values }) =>
      changeBrand({ ...values, color: values.color || null, background_color: values.background_color || null }),
    onSuccess: async (saved) => {
      form.set(initialValuesOf(saved))
      queries.setQueryData(brandQuery.queryKey, saved)
      await invalidate(keys.flowPreviews)
      toast('Brand saved.')
    },
  })
  const dirty = JSON.stringify(form.values) !== JSON.stringify(initialValuesOf(brand))
  return (
    <div className={classes.columns}>
      <form noValidate onSubmit={form.submit}>
        <Stack gap="sm">
          <TextInput
            label="Name"
            placeholder={brand.values.name}
            description="Default: the name of your organization"
            maxLength={200}
            {...form.field('name')}
          />
          <Logo
            url={form.values.logoUrl}
            onChange={(image) => form.set({ logo_image_id: image?.id ?? null, logoUrl: image?.url ?? null })}
          />
          <ColorInput label="Color of buttons and links" {...colorInput} {...form.field('color')} />
          <ColorInput label="Background" {...colorInput} {...form.field('background_color')} />
          <Select
            label="Font"
            description="These are installed on most devices. Emails don’t load fonts."
            data={fonts}
            allowDeselect={false}
            {...form.field('font')}
          />
          <Textarea
            label="Postal address"
            description="Shown in the footer. Most countries require it in marketing email."
            autosize
            minRows={3}
            maxLength={500}
            {...form.field('postal_address')}
          />
          <TextInput
            label="Website"
            type="url"
            placeholder="https://example.com"
            description="The logo links to it."
            maxLength={2048}
            {...form.field('website_url')}
          />
          <ErrorLine>{form.problem}</ErrorLine>
          <Group>
            <Button type="submit" loading={form.sending}>
              Save
            </Button>
          </Group>
        </Stack>
      </form>
      <Paper withBorder className={classes.preview} component="section" aria-label="Preview">
        <BrandPreview values={valuesOf(brand, form.values)} />
      </Paper>
      <UnsavedGuard dirty={dirty && !form.sending} within={paths.brand} />
    </div>
  )
}

type LogoProps = { url: string | null; onChange: (image: { id: string; url: string } | null) => void }

function Logo({ url, onChange }: LogoProps) {
  const [picking, setPicking] = useState(false)
  return (
    <Box>
      <Input.Label component="div">Logo</Input.Label>
      <Group gap="sm">
        {url && <img src={`${basePath}i/${url.split('/i/')[1]}`} alt="Current logo" className={classes.logo} />}
        <Button size="xs" variant="default" onClick={() => setPicking(true)}>
          {url ? 'Change logo' : 'Choose logo'}
        </Button>
        {url && (
          <Button size="xs" variant="subtle" onClick={() => onChange(null)}>
            Remove logo
          </Button>
        )}
      </Group>
      {picking && (
        <Suspense>
          <ImagePicker
            onClose={() => setPicking(false)}
            onChoose={(image) => {
              setPicking(false)
              onChange(image)
            }}
          />
        </Suspense>
      )}
    </Box>
  )
}
