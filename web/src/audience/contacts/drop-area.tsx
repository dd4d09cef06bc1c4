import { Button, FileButton, Stack, Text } from '@mantine/core'
import { IconFileTypeCsv } from '@tabler/icons-react'
import { useState } from 'react'
import classes from './drop-area.module.css'

const accepted = '.csv,.tsv,.txt,text/csv,text/plain'

/** Accepts a file by drag and drop or by a button. */
export function DropArea({ loading, onFile }: { loading: boolean; onFile: (file: File) => void }) {
  const [over, setOver] = useState(false)
  return (
    <section
      aria-label="Drop a CSV file here"
      className={classes.area}
      data-over={over || undefined}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault()
        setOver(false)
        const file = event.dataTransfer.files[0]
        if (file) onFile(file)
      }}
    >
      <Stack align="center" gap="xs">
        <IconFileTypeCsv size={40} stroke={1.4} aria-hidden />
        <Text fw={600}>Drop a CSV file here</Text>
        <Text c="dimmed">Separated by commas, semicolons, tabs or |.</Text>
        <FileButton
          accept={accepted}
          onChange={(file) => file && onFile(file)}
          inputProps={{ 'aria-label': 'CSV file' }}
        >
          {(props) => (
            <Button variant="default" mt="xs" loading={loading} {...props}>
              Choose file
            </Button>
          )}
        </FileButton>
      </Stack>
    </section>
  )
}
