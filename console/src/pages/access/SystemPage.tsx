// The installation, for the person who operates it: what it runs on, what waits, and what is not set up.
import type { Installation } from '@soundings/contract/console/system.ts';
import { useData } from '../../hooks/data.ts';
import { useFormat, useText } from '../../text/text.tsx';
import { LinkButton } from '../../ui/Button.tsx';
import { DescriptionList } from '../../ui/page/DescriptionList.tsx';
import { Notice } from '../../ui/page/Notice.tsx';
import { Page } from '../../ui/page/Page.tsx';
import { Padded, Section } from '../../ui/page/Section.tsx';
import { Loaded } from '../../ui/page/States.tsx';
import css from './access.module.css';

export function SystemPage() {
  const t = useText();
  const response = useData('GET /installation');
  return (
    <Page title={t('system.title')} subtitle={t('system.subtitle')} narrow>
      <Loaded response={response}>
        {({ installation }) =>
          installation ? (
            <>
              <Facts {...installation} />
              <Waiting {...installation} />
              <NotSetUp {...installation} />
            </>
          ) : (
            <Padded>
              <Notice tone="neutral" title={t('system.several')}>
                {t('system.severalText')}
              </Notice>
            </Padded>
          )
        }
      </Loaded>
    </Page>
  );
}

/** A value that says that there is none. */
const Soft = ({ children }: { children: string }) => <span className={css['soft']}>{children}</span>;

function Facts({ version, database, disk, mailFrom, sms, lastBackup }: Installation) {
  const t = useText();
  const format = useFormat();
  const none = <Soft key="none">{t('system.none')}</Soft>;
  return (
    <Section
      title={t('system.installation')}
      actions={<LinkButton to="/settings">{t('system.toSettings')}</LinkButton>}
    >
      <DescriptionList
        items={[
          [t('system.version'), version],
          [
            t('system.database'),
            t('system.databaseText', { version: database.version, size: format.bytes(database.bytes) }),
          ],
          [
            t('system.disk'),
            disk
              ? t('system.diskText', { free: format.bytes(disk.free), total: format.bytes(disk.total) })
              : undefined,
          ],
          [t('system.mail'), mailFrom ?? none],
          [t('system.sms'), sms ?? none],
          [
            t('system.backup'),
            lastBackup === null ? <Soft key="backup">{t('system.noBackup')}</Soft> : format.time(lastBackup),
          ],
        ]}
      />
    </Section>
  );
}

function Waiting({ waiting, failedJobs }: Installation) {
  const t = useText();
  const format = useFormat();
  return (
    <Section title={t('system.waiting')} description={t('system.waitingText')}>
      <DescriptionList
        items={waiting.map(({ what, count, since }) => [
          t(`system.waiting.${what}`),
          since === null ? (
            <Soft key="nothing">{t('system.nothing')}</Soft>
          ) : count === null ? (
            t('system.since', { since: format.time(since) })
          ) : (
            t('system.count', { count: format.number(count), since: format.time(since) })
          ),
        ])}
      />
      {failedJobs > 0 && (
        <Notice tone="warn" title={t('system.failed')}>
          {t('system.failedText', { count: failedJobs })}
        </Notice>
      )}
    </Section>
  );
}

function NotSetUp({ notSetUp }: Installation) {
  const t = useText();
  if (notSetUp.length === 0)
    return (
      <Section title={t('system.notSetUp')}>
        <Notice tone="good">{t('system.complete')}</Notice>
      </Section>
    );
  return (
    <Section title={t('system.notSetUp')} description={t('system.notSetUpText')}>
      <DescriptionList
        items={notSetUp.map((one) => [t(`system.missing.${one}`), t(`system.missing.${one}.text`)])}
      />
    </Section>
  );
}
