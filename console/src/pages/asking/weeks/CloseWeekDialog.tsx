// The dialog to close a week early. It explains the consequences first, because this can't be undone.
import type { OpenWeek } from '@soundings/contract/console/asking.ts';
import { api } from '../../../api.ts';
import { useRefresh } from '../../../hooks/data.ts';
import { useText } from '../../../text/text.tsx';
import { useWeekText } from '../../../text/weeks.ts';
import { ConfirmDialog } from '../../../ui/dialog/ConfirmDialog.tsx';
import { Consequences } from '../../../ui/dialog/Consequences.tsx';
import { useDays } from '../texts.ts';

export function CloseWeekDialog({ week, onClose }: { week: OpenWeek; onClose: () => void }) {
  const t = useText();
  const days = useDays();
  const weekText = useWeekText();
  const refresh = useRefresh();
  return (
    <ConfirmDialog
      onClose={onClose}
      title={t('asking.closeTitle', { week: weekText.sentence(week) })}
      text={
        <>
          <p>{t('asking.closeText')}</p>
          <Consequences
            items={[
              ...(['figures', 'answers', 'links', 'mails', 'back'] as const).map((what) =>
                t(`asking.closeEffect.${what}`),
              ),
              ...week.stillDue.map(({ name, day }) => t('asking.closeMissed', { name, day: days.day(day) })),
            ]}
          />
        </>
      }
      confirm={t('asking.closeConfirm', { week: weekText.sentence(week, week) })}
      typed={weekText.number(week)}
      danger
      onConfirm={async () => {
        await api('POST /rounds/{week}/close', { params: { week: week.week } });
        await refresh('GET /rounds', 'GET /schedules');
      }}
    />
  );
}
