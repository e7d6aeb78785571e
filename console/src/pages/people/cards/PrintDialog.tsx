// The dialog to print cards: who gets one, how many there are, and what anyone who sees a code can do. Then it opens the page that prints them.
import type { CardPlan } from '@soundings/contract/console/cards.ts';
import type { Chosen } from '@soundings/contract/console/people.ts';
import { useNavigate } from '@tanstack/react-router';
import { Printer } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../../api.ts';
import { useData, useRefresh } from '../../../hooks/data.ts';
import { useFormat, useText } from '../../../text/text.tsx';
import { Confirm, PlanDialog } from '../../../ui/dialog/ConfirmDialog.tsx';
import { CheckboxField } from '../../../ui/form/Field.tsx';
import { Notice } from '../../../ui/page/Notice.tsx';
import { GroupChoice, useGroupChoice } from './GroupChoice.tsx';
import css from './cards.module.css';
import { keepSheet } from './printing-sheet.ts';

/** `chosen`: the people; undefined: a group is chosen in the dialog. */
export function PrintDialog({ chosen, onClose }: { chosen?: Chosen; onClose: () => void }) {
  const t = useText();
  const refresh = useRefresh();
  const navigate = useNavigate();
  const group = useGroupChoice();
  const [isReplacing, setReplacing] = useState(false);
  const body = { chosen: chosen ?? group.chosen, isReplacing };
  const plan = useData('POST /cards', { body: { ...body, isPreview: true } });
  async function create(): Promise<string> {
    const { creating, sheet } = await api('POST /cards', { body: { ...body, isPreview: false } });
    keepSheet(sheet ?? undefined);
    await refresh('GET /cards');
    await navigate({ to: '/cards/print' });
    return t('cards.created', { count: creating });
  }
  const choices = (
    <div className={css['choices']}>
      {!chosen && <GroupChoice {...group} />}
      <CheckboxField
        label={t('cards.replace')}
        hint={t('cards.replaceText')}
        value={isReplacing}
        onChange={setReplacing}
      />
    </div>
  );
  return (
    <PlanDialog plan={plan} onClose={onClose} title={t('cards.printTitle')} waiting={choices}>
      {(data) => (
        <Confirm
          staysWhileBusy
          onClose={onClose}
          text={
            <>
              {choices}
              <Plan plan={data} />
            </>
          }
          icon={Printer}
          confirm={canCreate(data) ? t('cards.confirm', { count: data.creating }) : undefined}
          onConfirm={create}
        />
      )}
    </PlanDialog>
  );
}

const canCreate = ({ creating, most }: CardPlan) => creating > 0 && creating <= most;

function Plan({ plan }: { plan: CardPlan }) {
  const t = useText();
  const { creating, replacing, most } = plan;
  return (
    <div className={css['plan']}>
      <p>{creating === 0 ? t('cards.noOne') : t('cards.creating', { count: creating })}</p>
      {replacing > 0 && <p>{t('cards.replacing', { count: replacing })}</p>}
      <Others plan={plan} />
      {creating > most && (
        <Notice tone="warn" live>
          {t('cards.tooMany', { most })}
        </Notice>
      )}
      {canCreate(plan) && (
        <Notice tone="warn" title={t('cards.warning')}>
          {t('cards.warningText')}
        </Notice>
      )}
    </div>
  );
}

/** How many others were chosen, and why they get no card. */
function Others({ plan }: { plan: CardPlan }) {
  const t = useText();
  const { number } = useFormat();
  const counts = {
    withCard: plan.withCard - plan.replacing,
    reachable: plan.reachable,
    inactive: plan.inactive,
  };
  const reasons = (['withCard', 'reachable', 'inactive'] as const).filter((reason) => counts[reason] > 0);
  if (reasons.length === 0) return null;
  return (
    <ul className={css['others']}>
      {reasons.map((reason) => (
        <li key={reason}>
          {t(`cards.other.${reason}`)}: {number(counts[reason])}
        </li>
      ))}
    </ul>
  );
}
