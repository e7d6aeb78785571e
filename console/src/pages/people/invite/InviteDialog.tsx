// The dialog to invite people to sign in: how many, who gets an invitation, who can't, and why others don't. Without a mail server, it
// downloads a sheet with a link for each person.
import type { Chosen, InvitedPerson, Invitations } from '@soundings/contract/console/people.ts';
import { Download, Send } from 'lucide-react';
import { api } from '../../../api.ts';
import { useData } from '../../../hooks/data.ts';
import { useFormat, useText } from '../../../text/text.tsx';
import { Confirm, PlanDialog } from '../../../ui/dialog/ConfirmDialog.tsx';
import { save } from '../../../ui/downloads.ts';
import { Notice } from '../../../ui/page/Notice.tsx';
import { usePeopleRefresh } from '../actions.ts';
import css from './invite.module.css';

type InviteProps = { chosen: Chosen; onDone?: () => void; onClose: () => void };

export function InviteDialog({ chosen, onDone, onClose }: InviteProps) {
  const t = useText();
  const refresh = usePeopleRefresh();
  const plan = useData('POST /users/invitations', { body: { chosen, isPreview: true } });
  async function invite({ seen }: Invitations): Promise<string> {
    const { inviting, sheet } = await api('POST /users/invitations', {
      body: { chosen, isPreview: false, seen },
    }).catch(async (error: unknown) => {
      // Someone else may have invited them: the list shows who is left.
      await plan.refetch();
      throw error;
    });
    // The byte order mark, by which spreadsheet programs recognize UTF-8.
    if (sheet) save(sheet.name, new Blob(['\uFEFF', sheet.csv], { type: 'text/csv;charset=utf-8' }));
    onDone?.();
    await refresh();
    return t(sheet ? 'invite.downloaded' : 'invite.sent', { count: inviting });
  }
  return (
    <PlanDialog plan={plan} onClose={onClose} title={t('invite.title')} wide>
      {(data) => (
        <Confirm
          staysWhileBusy
          onClose={onClose}
          text={<Plan plan={data} />}
          icon={data.by === 'sheet' ? Download : Send}
          confirm={data.inviting === 0 ? undefined : confirmOf(t, data)}
          onConfirm={() => invite(data)}
        />
      )}
    </PlanDialog>
  );
}

const confirmOf = (t: ReturnType<typeof useText>, { by, inviting, reminding }: Invitations): string => {
  if (by === 'sheet') return t('invite.download', { count: inviting });
  return t(reminding === inviting ? 'invite.remind' : 'invite.invite', { count: inviting });
};

function Plan({ plan }: { plan: Invitations }) {
  const t = useText();
  const { by, inviting, reminding, people, withoutEmail, withoutEmailPeople } = plan;
  return (
    <div className={css['plan']}>
      <p>{inviting === 0 ? t('invite.noOne') : t(by === 'sheet' ? 'invite.sheetText' : 'invite.text')}</p>
      {by === 'sheet' && inviting > 0 && (
        <Notice tone="warn" title={t('invite.sheetWarning')}>
          {t('invite.sheetWarningText')}
          {reminding > 0 && ` ${t('invite.sheetReplaces', { count: reminding })}`}
        </Notice>
      )}
      {inviting > 0 && (
        <People
          title={t('invite.people', { count: inviting })}
          people={people}
          more={inviting - people.length}
        />
      )}
      {withoutEmail > 0 && (
        <People
          title={t('invite.withoutEmail', { count: withoutEmail })}
          people={withoutEmailPeople}
          more={withoutEmail - withoutEmailPeople.length}
        />
      )}
      <Others plan={plan} />
    </div>
  );
}

function People({ title, people, more }: { title: string; people: InvitedPerson[]; more: number }) {
  const t = useText();
  const { day } = useFormat();
  return (
    <div>
      <p className={css['title']}>{title}</p>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a list that scrolls must be reachable by keyboard */}
      <ul className={css['people']} tabIndex={0} aria-label={title}>
        {people.map(({ id, name, email, role, invitation }) => (
          <li key={id}>
            <span className={css['name']}>{name}</span>
            <span className={css['fact']}>
              {[
                t(`role.${role}`),
                ...(email === null ? [] : [email]),
                ...(invitation ? [t('people.invitedOn', { day: day(invitation.at) })] : []),
              ].join(' · ')}
            </span>
          </li>
        ))}
        {more > 0 && <li>{t('invite.more', { count: more })}</li>}
      </ul>
    </div>
  );
}

/** How many others were chosen, and why they are not invited. */
function Others({ plan }: { plan: Invitations }) {
  const t = useText();
  const reasons = (['recent', 'signedIn', 'users', 'inactive', 'unconfirmed'] as const).filter(
    (reason) => plan[reason] > 0,
  );
  if (reasons.length === 0) return null;
  return (
    <div>
      <p className={css['title']}>{t('invite.others')}</p>
      <ul className={css['reasons']}>
        {reasons.map((reason) => (
          <li key={reason}>{t(`invite.other.${reason}`, { count: plan[reason] })}</li>
        ))}
      </ul>
    </div>
  );
}
