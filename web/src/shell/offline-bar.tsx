import { IconWifiOff } from '@tabler/icons-react'
import { useOnline } from '../ui/online.ts'
import classes from './offline-bar.module.css'

/** Requests fail at once while the browser is offline, and nothing is sent later on its own. The bar explains both. */
export function OfflineBar() {
  const online = useOnline()
  return (
    <div role="status" className={classes.place}>
      {!online && (
        <div className={classes.bar}>
          <IconWifiOff size={18} aria-hidden />
          <span>
            <strong>You’re offline.</strong> This page may be out of date, and changes can’t be saved until you
            reconnect.
          </span>
        </div>
      )}
    </div>
  )
}
