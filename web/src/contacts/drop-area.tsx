import { Button, FileButton, Stack, Text } from '@mantine/core'
import { IconFileTypeCsv } from '@tabler/icons-react'
import { useState } from 'react'
import classes from './drop-area.module.css'

const accepted = '.csv,.tsv,.txt,text/csv,text/plain'

/** A file by drag and drop, or by the button for whoever does not drag. */
export function DropArea({ onFile }: { onFile: (file: File) => void }) {
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
        <Text c="dimmed">The first line names the columns. Commas, semicolons and tabs are all understood.</Text>
        <FileButton
          accept={accepted}
          onChange={(file) => file && onFile(file)}
          inputProps={{ 'aria-label': 'CSV file' }}
        >
          {(props) => (
            <Button variant="default" mt="xs" {...props}>
              Choose a file
            </Button>
          )}
        </FileButton>
      </Stack>
    </section>
  )
}
