export {
  type DefaultSender,
  findDefaultSender,
  proposeDefaultSender,
  removeDefaultSender,
} from './default-sender.sql.ts'
