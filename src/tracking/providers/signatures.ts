import type { Db } from '../../db/db.ts'
import { deleteExpiredSignatures } from './signatures.sql.ts'

/** To be run every hour or so: the table holds what was accepted since, and nothing older than twelve hours before. */
export const forgetExpiredSignatures = (db: Db): Promise<void> => deleteExpiredSignatures(db)
