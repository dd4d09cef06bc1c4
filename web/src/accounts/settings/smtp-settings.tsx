import { Box } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { GuideLink } from '../../ui/api-reference.tsx'
import { Copyable } from '../../ui/copy.tsx'
import { Facts } from '../../ui/facts.tsx'
import { Section } from '../../ui/section.tsx'
import { sendingQuery } from './settings.api.ts'

/** How programs send by SMTP with an API key. Nothing if the installation does not offer it. */
export function SmtpSettings() {
  const { data } = useQuery(sendingQuery)
  if (!data?.submission) return null
  const { host, port, tls_port: tlsPort, encrypted } = data.submission
  const ports = [
    ...(port === null ? [] : [`${port} (${encrypted ? 'STARTTLS' : 'not encrypted, from this machine only'})`]),
    ...(tlsPort === null ? [] : [`${tlsPort} (TLS)`]),
  ]
  return (
    <Box mt="xl">
      <Section
        title="SMTP"
        description={
          <>
            Any program that sends email by SMTP can send through Waxwing. See <GuideLink name="smtp">SMTP</GuideLink>.
          </>
        }
      >
        <Facts
          facts={[
            ['Server', <Copyable key="host" value={host} label="Copy the server name" />],
            ['Port', ports.join(' or ')],
            ['User name', <Copyable key="user" value="waxwing" label="Copy the user name" />],
            ['Password', 'An API key with the permission “Send email without a flow”'],
          ]}
        />
      </Section>
    </Box>
  )
}
