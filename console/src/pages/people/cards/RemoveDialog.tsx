// The dialog to remove the cards of a group, or of everyone.
import { api } from '../../../api.ts';
import { useData, useRefresh } from '../../../hooks/data.ts';
import { useText } from '../../../text/text.tsx';
import { Confirm, PlanDialog } from '../../../ui/dialog/ConfirmDialog.tsx';
import { GroupChoice, useGroupChoice } from './GroupChoice.tsx';
import css from './cards.module.css';

export function RemoveDialog({ onClose }: { onClose: () => void }) {
  const t = useText();
  const refresh = useRefresh();
  const group = useGroupChoice();
  const { chosen } = group;
  const plan = useData('POST /cards/removal', { body: { chosen, isPreview: true } });
  async function remove(): Promise<string> {
    const { count } = await api('POST /cards/removal', { body: { chosen, isPreview: false } });
    await refresh('GET /cards');
    return t('cards.removed', { count });
  }
  const choice = (
    <div className={css['choices']}>
      <GroupChoice {...group} />
    </div>
  );
  return (
    <PlanDialog plan={plan} onClose={onClose} title={t('cards.removeTitle')} waiting={choice}>
      {({ count }) => (
        <Confirm
          danger
          onClose={onClose}
          text={
            <>
              {choice}
              <p>{count === 0 ? t('cards.removeNone') : t('cards.removeText', { count })}</p>
            </>
          }
          confirm={count === 0 ? undefined : t('cards.removeConfirm', { count })}
          onConfirm={remove}
        />
      )}
    </PlanDialog>
  );
}
