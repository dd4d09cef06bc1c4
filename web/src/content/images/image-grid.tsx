import { Text } from '@mantine/core'
import { basePath } from '../../api/base.ts'
import type { Image } from '../../api/types.ts'
import { fileSize } from '../../ui/file-size.ts'
import classes from './image-grid.module.css'

/** Pictures of the gallery as buttons. */
export function ImageGrid({ images, onChoose }: { images: Image[]; onChoose: (image: Image) => void }) {
  return (
    <ul className={classes.grid} aria-label="Images">
      {images.map((image) => (
        <li key={image.id}>
          <button type="button" className={classes.tile} onClick={() => onChoose(image)}>
            <Picture image={image} />
            <span className={classes.text}>
              <Text component="span" display="block" size="sm" fw={600} className="one-line">
                {image.name}
              </Text>
              <Text component="span" display="block" size="xs" c="dimmed">
                {sizeOf(image)}
              </Text>
            </span>
          </button>
        </li>
      ))}
    </ul>
  )
}

/** From the host of the app, which may be another one than that of public addresses. */
export function Picture({ image, large = false }: { image: Image; large?: boolean }) {
  const path = `${basePath}i/${image.url.split('/i/')[1]}`
  return (
    <img
      src={path}
      alt={large ? image.alt_text : ''}
      loading="lazy"
      className={`${classes.picture} ${large ? classes.large : ''}`}
    />
  )
}

export const sizeOf = ({ width, height, size_bytes: bytes }: Image) => `${width} × ${height}, ${fileSize(bytes)}`
