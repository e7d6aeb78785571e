// API access. The page shows what is needed to connect an HR system or reports: URLs, SFTP, allowed IP addresses, limits and
// documentation.
import type { Access } from '@soundings/contract/console/access.ts';
import { ExternalLink, Plus, X } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../api.ts';
import { useOnce } from '../../hooks/once.ts';
import { useData, useRefresh } from '../../hooks/data.ts';
import { useCountryNames } from '../../text/countries.ts';
import { useFormat, useText } from '../../text/text.tsx';
import { Badge } from '../../ui/Badge.tsx';
import { Button, IconButton, LinkButton } from '../../ui/Button.tsx';
import { Copy } from '../../ui/Copy.tsx';
import { ConfirmDialog } from '../../ui/dialog/ConfirmDialog.tsx';
import { DescriptionList } from '../../ui/page/DescriptionList.tsx';
import { TextField } from '../../ui/form/Field.tsx';
import { Form, useForm } from '../../ui/form/Form.tsx';
import { Notice } from '../../ui/page/Notice.tsx';
import { Page } from '../../ui/page/Page.tsx';
import { Section } from '../../ui/page/Section.tsx';
import { Loaded } from '../../ui/page/States.tsx';
import { useToast } from '../../ui/floating/Toast.tsx';
import css from './access.module.css';

export function AccessPage() {
  const t = useText();
  const response = useData('GET /access');
  return (
    <Page title={t('access.title')} subtitle={t('access.subtitle')} narrow>
      <Loaded response={response}>
        {(access) => (
          <>
            <Addresses {...access} />
            <Sftp {...access} />
            <Allowed {...access} />
            <FileSettings {...access} />
            <Limits {...access} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Addresses({ addresses, documents }: Access) {
  const t = useText();
  return (
    <Section title={t('access.addresses')}>
      <DescriptionList
        items={[
          [t('access.data'), <Copy key="data" text={addresses.data} label={t('access.data')} />],
          [
            t('access.organization'),
            <Copy key="organization" text={addresses.organization} label={t('access.organization')} />,
          ],
          [t('access.upload'), <Copy key="upload" text={addresses.upload} label={t('access.upload')} />],
          [
            t('access.header'),
            <Copy key="header" text="Authorization: <API_TOKEN>" label={t('access.header')} />,
          ],
          [
            t('access.documents'),
            <span key="documents" className={css['badges']}>
              <LinkButton href={documents} icon={ExternalLink}>
                {t('access.documentsText')}
              </LinkButton>
              <span className={css['badges']}>
                {['data', 'organization', 'upload', 'audit', 'scim'].map((name) => (
                  <a key={name} href={`/v1/openapi/${name}.json`}>
                    {t('access.openApi')} {name}
                  </a>
                ))}
              </span>
            </span>,
          ],
        ]}
      />
    </Section>
  );
}

function Sftp({ sftp }: Access) {
  const t = useText();
  if (!sftp)
    return (
      <Section title={t('access.sftp')}>
        <Notice tone="neutral">{t('access.sftpOff')}</Notice>
      </Section>
    );
  const { host, port, username, keys } = sftp;
  return (
    <Section title={t('access.sftp')} description={t('access.sftpText')}>
      <DescriptionList
        items={[
          [t('access.host'), <Copy key="host" text={`${host}:${port}`} label={t('access.host')} />],
          [t('access.username'), <Copy key="username" text={username} label={t('access.username')} />],
          [
            t('access.password'),
            <span key="password">
              {t('access.passwordText')} <Badge>{t('tokens.scope.files')}</Badge>
            </span>,
          ],
          ...keys.map(({ kind, fingerprint }): [string, React.ReactNode] => [
            t('access.hostKey', { kind }),
            <Copy key={kind} text={fingerprint} label={kind} />,
          ]),
          [
            t('access.command'),
            <Copy key="command" text={`sftp -P ${port} ${username}@${host}`} label={t('access.command')} />,
          ],
        ]}
      />
    </Section>
  );
}

type Change = { allow?: string[]; remove?: string[] };

/** Returns a function that adds or removes allowed ranges. It throws the service's errors. */
function useAllow() {
  const t = useText();
  const refresh = useRefresh();
  const toast = useToast();
  return async (change: Change) => {
    await api('PATCH /access/allow', { body: change });
    await refresh('GET /access');
    toast({ text: t('access.allowSaved') });
  };
}

function Allowed(access: Access) {
  const t = useText();
  const change = useAllow();
  const { busy, once } = useOnce();
  const { allow, yourAddress, isYourAddressAllowed } = access;
  const key = allow.length === 0 ? 'yoursAny' : isYourAddressAllowed ? 'yoursInside' : 'yoursOutside';
  return (
    <Section title={t('access.allow')} description={t('access.allowText')}>
      <Ranges {...access} change={change} />
      <Notice
        tone={key === 'yoursOutside' ? 'warn' : 'accent'}
        title={t('access.yours', { address: yourAddress })}
        actions={
          key === 'yoursOutside' && (
            <Button busy={busy} onClick={() => once(() => change({ allow: [yourAddress] }))}>
              {t('access.addYours', { address: yourAddress })}
            </Button>
          )
        }
      >
        {t(`access.${key}`)}
      </Notice>
    </Section>
  );
}

function Ranges({ allow, change }: { allow: string[]; change: (change: Change) => Promise<void> }) {
  const t = useText();
  const [last, setLast] = useState<string>();
  /** Ranges are removed one after another, so that removing the last range always asks for confirmation. */
  const { busy, once } = useOnce();
  const remove = (range: string) =>
    allow.length === 1 ? setLast(range) : once(() => change({ remove: [range] }));
  return (
    <ul className={css['ranges']}>
      {allow.length === 0 && <li className={css['soft']}>{t('access.allowEmpty')}</li>}
      {allow.map((range) => (
        <li key={range}>
          <code>{range}</code>
          <IconButton
            icon={X}
            label={t('access.remove', { range })}
            disabled={busy}
            onClick={() => remove(range)}
          />
        </li>
      ))}
      <Adding change={change} />
      <ConfirmDialog
        open={last !== undefined}
        onClose={() => setLast(undefined)}
        title={t('access.removeLast', { range: last ?? '' })}
        text={t('access.removeLastText')}
        confirm={t('access.removeLastConfirm')}
        danger
        onConfirm={() => change({ remove: [last as string] })}
      />
    </ul>
  );
}

function Adding({ change }: { change: (change: Change) => Promise<void> }) {
  const t = useText();
  const form = useForm({
    initial: { allow: '' },
    warn: false,
    submit: ({ allow }) => change({ allow: [allow.trim()] }),
    onDone: () => form.reset({ allow: '' }),
  });
  return (
    <li className={css['adding']}>
      <Form form={form}>
        <TextField
          label={t('access.allowField')}
          hideLabel
          mono
          required
          placeholder="203.0.113.0/24"
          {...form.field('allow')}
        />
        <Button type="submit" icon={Plus} busy={form.busy}>
          {t('access.add')}
        </Button>
      </Form>
    </li>
  );
}

/** Shows what files can change. This can only be edited in the settings. */
function FileSettings({ files }: Access) {
  const t = useText();
  const format = useFormat();
  const { nameOf } = useCountryNames();
  const onOff = (isOn: boolean) => t(isOn ? 'access.on' : 'access.off');
  const most = ([created, updated, deleted]: [number, number, number]) =>
    t('access.most', {
      created: format.number(created),
      updated: format.number(updated),
      deleted: format.number(deleted),
    });
  const { maxUsersCreated, maxUsersUpdated, maxUsersDeleted } = files;
  const { maxGroupsCreated, maxGroupsUpdated, maxGroupsDeleted } = files;
  return (
    <Section
      title={t('access.settings')}
      description={t('access.settingsText')}
      actions={
        <LinkButton to="/settings" hash="files">
          {t('access.toSettings')}
        </LinkButton>
      }
    >
      <DescriptionList
        items={[
          [t('settings.applyFiles'), onOff(files.applyFiles)],
          [t('settings.filesPartial'), onOff(files.filesPartial)],
          [t('settings.createGroups'), onOff(files.createGroupsFromUsers)],
          [t('settings.country'), files.defaultCountry === null ? '–' : nameOf(files.defaultCountry)],
          [t('access.mostUsers'), most([maxUsersCreated, maxUsersUpdated, maxUsersDeleted])],
          [t('access.mostGroups'), most([maxGroupsCreated, maxGroupsUpdated, maxGroupsDeleted])],
        ]}
      />
    </Section>
  );
}

function Limits({ limits }: Access) {
  const t = useText();
  const format = useFormat();
  const upTo = (value: string) => t('access.upTo', { value });
  // As in the documents and on the page of files: 10 MB, although a megabyte here has 1,048,576 bytes.
  const megabytes = (bytes: number) => `${format.number(Math.floor(bytes / 1024 ** 2))} MB`;
  return (
    <Section title={t('access.limits')}>
      <DescriptionList
        items={[
          [t('access.fileSize'), upTo(megabytes(limits.fileBytes))],
          [t('access.requestSize'), upTo(megabytes(limits.requestBytes))],
          [t('access.storedFiles'), upTo(format.number(limits.storedFiles))],
          [
            t('access.rate'),
            limits.requestsPerMinute === 0
              ? t('access.unlimited')
              : upTo(format.number(limits.requestsPerMinute)),
          ],
        ]}
      />
    </Section>
  );
}
