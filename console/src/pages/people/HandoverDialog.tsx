// The dialog to hand people over to the HR system or take them over: how many change, why others don't, and the consequences.
import type { Chosen, Handover } from '@soundings/contract/console/people.ts';
import { api } from '../../api.ts';
import { useData } from '../../hooks/data.ts';
import { type Translator, useText } from '../../text/text.tsx';
import { Confirm, PlanDialog } from '../../ui/dialog/ConfirmDialog.tsx';
import { Consequences } from '../../ui/dialog/Consequences.tsx';
import { usePeopleRefresh } from './actions.ts';
import css from './people.module.css';

type HandoverProps = {
  way: 'adopt' | 'release';
  chosen: Chosen;
  onDone: () => void;
  onClose: () => void;
};

export function HandoverDialog({ way, chosen, onDone, onClose }: HandoverProps) {
  const t = useText();
  const refresh = usePeopleRefresh();
  const name = way === 'adopt' ? 'POST /users/adopt' : 'POST /users/release';
  const plan = useData(name, { body: { chosen, isPreview: true } });
  const texts = (count: number) => ({
    text: t(way === 'adopt' ? 'people.handOverMany' : 'people.takeOverMany', { count }),
    confirm: t(way === 'adopt' ? 'people.handOverManyConfirm' : 'people.takeOverManyConfirm', { count }),
    done: t(way === 'adopt' ? 'people.handedOverMany' : 'people.takenOverMany', { count }),
  });
  async function handOver(seen: Handover['seen']): Promise<string> {
    const done = await api(name, { body: { chosen, isPreview: false, seen } });
    onDone();
    await refresh();
    return texts(done.changing).done;
  }
  return (
    <PlanDialog
      plan={plan}
      onClose={onClose}
      title={t(way === 'adopt' ? 'people.handOverManyTitle' : 'people.takeOverManyTitle')}
    >
      {(data) => (
        <Confirm
          onClose={onClose}
          text={
            data.changing === 0 ? (
              <Unchanged handover={data} way={way} none />
            ) : (
              <>
                <p>{texts(data.changing).text}</p>
                <Unchanged handover={data} way={way} />
                <Consequences title={t('people.next')} items={consequencesOf(t, way)} />
              </>
            )
          }
          confirm={data.changing === 0 ? undefined : texts(data.changing).confirm}
          onConfirm={() => handOver(data.seen)}
        />
      )}
    </PlanDialog>
  );
}

const consequencesOf = (t: Translator, way: 'adopt' | 'release') =>
  way === 'adopt'
    ? [t('people.handOverManyLists'), t('people.handOverManyOmits'), t('people.handOverManyLocks')]
    : [t('people.takeOverManyKeeps'), t('people.takeOverManyLists'), t('people.takeOverBack')];

/** The people who don't change, and why. */
function Unchanged({
  handover,
  way,
  none,
}: {
  handover: Handover;
  way: 'adopt' | 'release';
  none?: boolean;
}) {
  const t = useText();
  const { already, withoutExternalId, ownAccount } = handover;
  if (already + withoutExternalId + ownAccount === 0 && !none) return null;
  return (
    <div>
      {none && <p>{t('people.handOverNoOne')}</p>}
      <ul className={css['points']}>
        {already > 0 && (
          <li>{t(way === 'adopt' ? 'people.alreadyManaged' : 'people.alreadyManual', { count: already })}</li>
        )}
        {withoutExternalId > 0 && <li>{t('people.withoutId', { count: withoutExternalId })}</li>}
        {ownAccount > 0 && <li>{t('people.handOverOwnAccount')}</li>}
      </ul>
    </div>
  );
}
