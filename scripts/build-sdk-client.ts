import { writeSdkClient } from './sdk-client.ts'

writeSdkClient()
