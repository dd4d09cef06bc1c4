import { asciiDomain } from '../../platform/values/domain.ts'
import { invalid } from '../../platform/values/errors.ts'
import { type Domain, returnPathHostOf, trackingHostOf } from './domain.ts'
import type { DomainHosts } from './records.ts'

type Labels = Pick<Domain, 'trackingLabel' | 'returnPathLabel'>
export type LabelChanges = { tracking_label?: string; return_path_label?: string }

export const defaultLabels: Labels = { trackingLabel: 'links', returnPathLabel: 'bounces' }

/** Returns the labels after the change. Throws `Refusal` if a new one cannot be used. */
export function checkLabels(
  current: Pick<Domain, 'name'> & Labels,
  { tracking_label, return_path_label }: LabelChanges,
  { host, bounceDomain }: DomainHosts,
): Labels {
  const next = {
    name: current.name,
    trackingLabel: tracking_label?.toLowerCase() ?? current.trackingLabel,
    returnPathLabel: return_path_label?.toLowerCase() ?? current.returnPathLabel,
  }
  if (tracking_label !== undefined) checkHost('tracking_label', tracking_label, trackingHostOf(next), host)
  if (return_path_label !== undefined)
    checkHost('return_path_label', return_path_label, returnPathHostOf(next), bounceDomain)
  if (next.trackingLabel === next.returnPathLabel)
    throw invalid({
      path: tracking_label === undefined ? 'return_path_label' : 'tracking_label',
      problem: 'must differ for links and bounces, since their records cannot have the same name',
    })
  return next
}

function checkHost(path: keyof LabelChanges, label: string, name: string, installation: string | undefined): void {
  if (label.includes('.') || asciiDomain(name) !== name)
    throw invalid({ path, problem: 'must be one part of a host name, such as links' })
  if (name === installation) throw invalid({ path, problem: `${name} is the host of this installation` })
}
