// How to use a sandbox: addresses and commands to copy, which differ from those of the account only in the token.
import type { SandboxView } from '@soundings/contract/sandbox/sandbox.ts';
import { ExternalLink } from 'lucide-react';
import { useText } from '../../../text/text.tsx';
import { LinkButton } from '../../../ui/Button.tsx';
import { Copy } from '../../../ui/Copy.tsx';
import { DescriptionList } from '../../../ui/page/DescriptionList.tsx';
import { Section } from '../../../ui/page/Section.tsx';
import { tryLine } from '../NewToken.tsx';

type UseProps = { view: SandboxView; sandbox: NonNullable<SandboxView['sandbox']> };

export function Use({ view: { address, documents, sftp }, sandbox: { scopes, sftpUsername } }: UseProps) {
  const t = useText();
  const copied = (label: string, text: string): [string, React.ReactNode] => [
    label,
    <Copy key={label} text={text} label={label} />,
  ];
  const lines = scopes.map((scope) =>
    copied(t(`tokens.scope.${scope}`), tryLine({ token: '$TOKEN', scopes: [scope] }, address)),
  );
  const connection = sftp && `sftp -P ${sftp.port} ${sftpUsername ?? ''}@${sftp.host}`;
  const isConnecting = scopes.includes('files') && sftpUsername !== null;
  return (
    <Section title={t('sandbox.use')} description={t('sandbox.useText')}>
      <DescriptionList
        items={[
          copied(t('sandbox.yourToken'), 'export TOKEN=<API_TOKEN>'),
          ...lines,
          ...(isConnecting
            ? [
                connection === null
                  ? ([t('sandbox.sftp'), t('sandbox.sftpOff')] as [string, React.ReactNode])
                  : copied(t('sandbox.sftp'), connection),
              ]
            : []),
          [
            t('sandbox.documents'),
            <LinkButton key="documents" href={documents} icon={ExternalLink}>
              {documents}
            </LinkButton>,
          ],
        ]}
      />
    </Section>
  );
}
