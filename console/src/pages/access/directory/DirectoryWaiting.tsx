// The users of the directory who exist already as people of another source: why each of them waits, and the decision to hand the person over to
// the directory, after a plan, or to keep the person as it is.
import type { Takeover, TakeoverPlan, WaitingUser } from '@soundings/contract/scim/directory.ts';
import { useState } from 'react';
import { api } from '../../../api.ts';
import { useErrorToast } from '../../../hooks/error-toast.ts';
import { useAddress, useData, useRefresh } from '../../../hooks/data.ts';
import { useFormat, useText } from '../../../text/text.tsx';
import { Badge } from '../../../ui/Badge.tsx';
import { Button, LinkButton } from '../../../ui/Button.tsx';
import { useFieldText, useValueText } from '../../../ui/changes.ts';
import { Confirm, PlanDialog } from '../../../ui/dialog/ConfirmDialog.tsx';
import { Consequences } from '../../../ui/dialog/Consequences.tsx';
import { useToast } from '../../../ui/floating/Toast.tsx';
import { Notice } from '../../../ui/page/Notice.tsx';
import { Section } from '../../../ui/page/Section.tsx';
import css from '../access.module.css';

/** Shows the users who wait, and the dialog of the user in the address (`?user=`), to which the page of a person leads. */
export function DirectoryWaiting({ count, people, rows, keptCount, kept }: Takeover) {
  const t = useText();
  const [{ user }, setAddress] = useAddress<'user'>();
  const [isTogether, setIsTogether] = useState(false);
  const open = (id: string | undefined) => setAddress({ user: id });
  return (
    <>
      {count > 0 && (
        <Section
          title={t('directory.waitingTitle', { count })}
          description={t('directory.waitingText')}
          actions={
            people > 0 && (
              <Button onClick={() => setIsTogether(true)}>
                {t('directory.takeover', { count: people })}
              </Button>
            )
          }
        >
          <Users rows={rows} more={count - rows.length} onHandOver={open} />
        </Section>
      )}
      {keptCount > 0 && (
        <Section title={t('directory.keptTitle')} description={t('directory.keptPeopleText')}>
          <Users rows={kept} more={keptCount - kept.length} onHandOver={open} />
        </Section>
      )}
      {isTogether && <HandOverDialog onClose={() => setIsTogether(false)} />}
      {user !== undefined && <HandOverDialog id={user} onClose={() => open(undefined)} />}
    </>
  );
}

type UsersProps = { rows: readonly WaitingUser[]; more: number; onHandOver: (id: string) => void };

function Users({ rows, more, onHandOver }: UsersProps) {
  const t = useText();
  const { number } = useFormat();
  return (
    <>
      <ul className={css['waiting']}>
        {rows.map((row) => (
          <li key={row.id}>
            <WaitingRow row={row} onHandOver={onHandOver} />
          </li>
        ))}
      </ul>
      {more > 0 && <p className={css['soft']}>{t('directory.waitingMore', { count: number(more) })}</p>}
    </>
  );
}

function WaitingRow({ row, onHandOver }: { row: WaitingUser; onHandOver: (id: string) => void }) {
  const t = useText();
  const decide = useKeep();
  const { id, name, userName, person, isKept, hindrance } = row;
  const why =
    hindrance !== null
      ? t(`directory.why.${hindrance}`)
      : person?.role === 'Administrator'
        ? t('directory.why.administrator')
        : t(`directory.why.${person?.source ?? 'manual'}`);
  return (
    <>
      <div className={css['waitingText']}>
        <b>{name}</b> <small>{userName}</small>
        {person && (
          <p>
            {t('directory.waitingPerson', { name: [person.name, person.email].filter(Boolean).join(', ') })}{' '}
            <Badge tone={person.role === 'Administrator' ? 'warn' : 'neutral'}>
              {t(`role.${person.role}`)}
            </Badge>
          </p>
        )}
        <p className={css['soft']}>{why}</p>
      </div>
      {person && (
        <div className={css['waitingActions']}>
          <LinkButton to={`/people/${person.id}`}>{t('directory.showPerson')}</LinkButton>
          <Button onClick={() => void decide(row, !isKept)}>
            {t(isKept ? 'directory.decideAgain' : 'directory.keep')}
          </Button>
          {hindrance === null && <Button onClick={() => onHandOver(id)}>{t('directory.handOver')}</Button>}
        </div>
      )}
    </>
  );
}

/** Returns a function that keeps a person as it is, or lets the user wait for a decision again. */
function useKeep() {
  const t = useText();
  const refresh = useRefresh();
  const toast = useToast();
  const showErrorOf = useErrorToast();
  return ({ id, person }: WaitingUser, kept: boolean) =>
    showErrorOf(
      (async () => {
        const body = { personId: person?.id ?? 0, kept };
        await api('PUT /directory/users/{id}/kept', { params: { id }, body });
        await refresh('GET /directory', 'GET /directory/people/{userId}');
        toast({ text: t(kept ? 'directory.keptDone' : 'directory.waitsAgain') });
      })(),
    );
}

/** Shows what a handover would change, and applies exactly that. `id`: of the one user; without it, everyone who can be handed over together. */
function HandOverDialog({ id, onClose }: { id?: string; onClose: () => void }) {
  const t = useText();
  const refresh = useRefresh();
  const chosen = id === undefined ? {} : { id };
  const plan = useData('POST /directory/takeover/plan', { body: chosen });
  return (
    <PlanDialog
      open
      wide
      plan={plan}
      onClose={onClose}
      title={t(id === undefined ? 'directory.takeoverTitle' : 'directory.handOverTitle')}
    >
      {(data) => (
        <Confirm
          onClose={onClose}
          text={<PlanOfHandover plan={data} />}
          confirm={data.people === 0 ? undefined : t('directory.takeover', { count: data.people })}
          onConfirm={async () => {
            await api('POST /directory/takeover', { body: { ...chosen, digest: data.digest } });
            await refresh(
              'GET /directory',
              'GET /users',
              'GET /users/{userId}',
              'GET /directory/people/{userId}',
            );
            return t('directory.takenOver', { count: data.people });
          }}
        />
      )}
    </PlanDialog>
  );
}

function PlanOfHandover({ plan }: { plan: TakeoverPlan }) {
  const t = useText();
  const { people, pairs, leaving, warnings } = plan;
  const isAdministrator = pairs.some(({ person }) => person.role === 'Administrator');
  return (
    <>
      {isAdministrator && <Notice tone="warn">{t('directory.handOverAdministrator')}</Notice>}
      <p>{t(people === 1 ? 'directory.handOverText' : 'directory.takeoverText')}</p>
      <ul>
        {pairs.map(({ id, name, person }) => (
          <li key={id}>
            {name}:{' '}
            {[person.name, person.email, t(`role.${person.role}`), t(`directory.source.${person.source}`)]
              .filter(Boolean)
              .join(', ')}
          </li>
        ))}
        {people > pairs.length && <li>…</li>}
      </ul>
      <ChangesOfHandover plan={plan} />
      {leaving > 0 && <Notice tone="warn">{t('directory.handOverLeaving', { count: leaving })}</Notice>}
      {warnings.length > 0 && (
        <Consequences title={t('directory.planWarnings')} items={[...new Set(warnings)].slice(0, 20)} />
      )}
    </>
  );
}

function ChangesOfHandover({ plan: { changes, people } }: { plan: TakeoverPlan }) {
  const t = useText();
  const fieldTextOf = useFieldText();
  const valueTextOf = useValueText();
  if (changes.length === 0) return <p>{t('directory.handOverNothing')}</p>;
  const lines = changes.flatMap(({ name, externalId, action, fields }) => {
    const who = people === 1 && name !== null ? '' : `${name ?? externalId}: `;
    return fields
      ? Object.entries(fields).map(
          ([field, { from, to }]) =>
            who +
            t('directory.handOverChange', {
              field: fieldTextOf(field),
              from: valueTextOf(from),
              to: valueTextOf(to),
            }),
        )
      : [`${who}${t(`directory.change.${action}`)}`];
  });
  return <Consequences title={t('directory.handOverChanges')} items={[...new Set(lines)].slice(0, 40)} />;
}
