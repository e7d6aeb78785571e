// The dialog to hand people over to the HR system or take them over: how many change, why others don't, and the consequences.
import type { Chosen, Handover } from '@soundings/contract/console.people.ts';
import { api } from '../../api.ts';
import { useData } from '../../hooks/data.ts';
import { type Translate, useText } from '../../text/text.tsx';
import { Button } from '../../ui/Button.tsx';
import { ConfirmDialog, Dialog } from '../../ui/dialog/Dialog.tsx';
import { Failed, Skeleton } from '../../ui/page/States.tsx';
import { useToast } from '../../ui/floating/Toast.tsx';
import { Consequences } from './Consequences.tsx';
import css from './people.module.css';
import { usePeopleRefresh } from './PersonDialogs.tsx';

type HandoverProps = {
  way: 'adopt' | 'release';
  chosen: Chosen;
  onDone: () => void;
  onClose: () => void;
};

export function HandoverDialog({ way, chosen, onDone, onClose }: HandoverProps) {
  const t = useText();
  const toast = useToast();
  const refresh = usePeopleRefresh();
  const name = way === 'adopt' ? 'POST /users/adopt' : 'POST /users/release';
  const { data, error, refetch } = useData(name, { body: { chosen, isPreview: true } });
  const title = t(way === 'adopt' ? 'people.adoptManyTitle' : 'people.releaseManyTitle');
  if (!data || data.changing === 0)
    return (
      <Dialog
        open
        onClose={onClose}
        title={title}
        actions={<Button onClick={onClose}>{t('action.close')}</Button>}
      >
        {data ? (
          <Unchanged handover={data} way={way} none />
        ) : error ? (
          <Failed error={error} onRetry={() => void refetch()} />
        ) : (
          <Skeleton rows={3} />
        )}
      </Dialog>
    );
  const count = data.changing;
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      title={title}
      text={
        <div className={css['stack']}>
          <p>{t(way === 'adopt' ? 'people.adoptMany' : 'people.releaseMany', { count })}</p>
          <Unchanged handover={data} way={way} />
          <Consequences items={following(t, way)} />
        </div>
      }
      confirm={t(way === 'adopt' ? 'people.adoptManyConfirm' : 'people.releaseManyConfirm', { count })}
      onConfirm={async () => {
        const done = await api(name, { body: { chosen, isPreview: false, seen: data.seen } });
        onDone();
        await refresh();
        toast({
          text: t(way === 'adopt' ? 'people.adoptedMany' : 'people.releasedMany', { count: done.changing }),
        });
      }}
    />
  );
}

const following = (t: Translate, way: 'adopt' | 'release') =>
  way === 'adopt'
    ? [t('people.adoptManyLists'), t('people.adoptManyOmits'), t('people.adoptManyLocks')]
    : [t('people.releaseManyKeeps'), t('people.releaseManyLists'), t('people.releaseBack')];

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
  const { already, withoutExternalId, oneself } = handover;
  if (already + withoutExternalId + oneself === 0 && !none) return null;
  return (
    <div>
      {none && <p>{t('people.handNobody')}</p>}
      <ul className={css['points']}>
        {already > 0 && (
          <li>{t(way === 'adopt' ? 'people.alreadyManaged' : 'people.alreadyByHand', { count: already })}</li>
        )}
        {withoutExternalId > 0 && <li>{t('people.withoutId', { count: withoutExternalId })}</li>}
        {oneself > 0 && <li>{t('people.handOneself')}</li>}
      </ul>
    </div>
  );
}
